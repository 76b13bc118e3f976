//! What a definition says around its template.

use std::collections::BTreeMap;

use crate::{ObfuscationKey, Registry, limits::MAXLEN_DEFAULT};

/// The definition's record around a template. Every field has a default, so name what differs:
///
/// ```
/// use sequent_format::Settings;
/// let india = Settings { zone: "Asia/Kolkata".into(), maxlen: 16, charset: "A-Z0-9/-".into(), ..Settings::default() };
/// ```
#[derive(Debug, Clone)]
pub struct Settings {
    /// The definition's name; part of the tweak of FF1, so that two definitions with one key hide differently. Default: empty.
    pub name: String,
    /// The IANA name of the zone that dates are shown and periods are counted in, unless a date part names one. Default: `UTC`.
    pub zone: String,
    /// The longest text, in characters. Default: 128.
    pub maxlen: usize,
    /// The characters that a text may consist of, as between the brackets of a regular expression: `A-Z0-9/-`.
    /// Default: empty, which allows all that is visible.
    pub charset: String,
    /// Among what texts are unique. Default: all.
    pub unique: Unique,
    /// Where the numbers come from. Default: `spread`.
    pub placement: Placement,
    /// Keys for `obf=ff1:NAME`, by name.
    pub keys: BTreeMap<String, ObfuscationKey>,
    /// Functions for `fn`.
    pub registry: Registry,
}

/// Among what texts are unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Unique {
    /// Among all texts of the definition.
    #[default]
    Global,
    /// Among those of one period: tomorrow's may be like today's, as queue tickets are.
    Period,
    /// Among those of one tuple of partition values: a value may be part of the counter's key and not of the text.
    Partition,
}

/// Where numbers come from; a template only asks whether they are a book's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Placement {
    /// Over the ring.
    #[default]
    Spread,
    /// One counter.
    Dense,
    /// One counter with an entry for each number.
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
