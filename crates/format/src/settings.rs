//! The settings of a definition besides its template.

use std::collections::BTreeMap;

use crate::{cipher::ObfuscationKey, limits::MAXLEN_DEFAULT, registry::Registry};

/// The settings of a definition besides its template. Every field has a default:
///
/// ```
/// use sequent_format::Settings;
/// let india = Settings { zone: "Asia/Kolkata".into(), maxlen: 16, charset: "A-Z0-9/-".into(), ..Settings::default() };
/// ```
#[derive(Debug, Clone)]
pub struct Settings {
    /// The definition's name. It is part of the tweak of FF1, so that two definitions with one key encrypt differently. Default: empty.
    pub name: String,
    /// The IANA name of the zone of dates and periods, unless a date part names another. Default: `UTC`.
    pub zone: String,
    /// The longest text, in characters. Default: 128.
    pub maxlen: usize,
    /// The allowed characters, as between the brackets of a regular expression: `A-Z0-9/-`. Default: empty, which allows all visible
    /// characters.
    pub charset: String,
    /// The scope in which texts are unique. Default: global.
    pub unique: Unique,
    /// The placement of the counter. Default: `spread`.
    pub placement: Placement,
    /// Keys for `obf=ff1:NAME`, by name.
    pub keys: BTreeMap<String, ObfuscationKey>,
    /// Functions for `fn`.
    pub registry: Registry,
}

/// The scope in which texts are unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Unique {
    /// All texts of the definition.
    #[default]
    Global,
    /// The texts of one period. Texts may repeat in the next period, as those of queue tickets do.
    Period,
    /// The texts with the same partition values. A value may be part of the counter's key without being in the text.
    Partition,
}

/// The placement of a counter. The rules only distinguish books from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Placement {
    /// Spread over the ring.
    #[default]
    Spread,
    /// One counter.
    Dense,
    /// One counter with an entry for each number: a book, whose numbers have no gaps.
    Book,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: String::new(),
            zone: "UTC".into(),
            maxlen: MAXLEN_DEFAULT,
            charset: String::new(),
            unique: Unique::default(),
            placement: Placement::default(),
            keys: BTreeMap::new(),
            registry: Registry::default(),
        }
    }
}
