//! The texts of a definition: the template and its settings. They are verified before use.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use sequent_core::{FieldFault, SequenceName};
use sequent_format::{AnalysisError, Format, Reset, Settings, Template, Unique};
use serde::{Deserialize, Serialize};

mod excerpt;
mod functions;
pub(crate) mod obf_keys;
pub(crate) mod preview_parse;
mod reading;
mod succession;

pub use functions::register_function;
pub use reading::ReadFault;
pub use succession::FORMER_TEMPLATES_MAX;

/// Upper limit of the periods kept: eleven years of hours. The lower limit is one, since servers' clocks differ.
pub const RETAINED_MAX: u32 = 100_000;

/// The default zone of dates and periods.
pub(crate) const ZONE_DEFAULT: &str = "UTC";

/// The texts of a definition. Every field but the template has a default.
///
/// ```
/// use sequent_engine::Texts;
/// let order = Texts::new("@{date,yyyyMMdd}@{seq,w=5}").zone("Asia/Shanghai").proven()?;
/// assert_eq!(order.format().map(|format| format.max_len()), Some(27));
/// let error = Texts::new("@{ctx,store}@{seq,w=8}").proven().unwrap_err();
/// assert!(error.bound.starts_with("S1, column 1: "), "{}", error.bound);
/// # Ok::<(), sequent_core::FieldFault>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    template: String,
    zone: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maxlen: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    charset: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unique: Option<UniqueWord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window_s: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retain_periods: Option<u32>,
    /// The check value of the key of `obf`. It is recorded when the template is first verified; no other key is
    /// accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_check: Option<String>,
    /// The sequence's name, as part of what `obf` hides with. Absent in definitions from before the name was part of
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tweak: Option<String>,
    /// The texts of earlier versions with another template: they have been issued, and can still be parsed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<Former>,
    /// The template made ready.
    #[serde(skip)]
    proven: Made<Option<Format>>,
}

/// The texts of an earlier version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Former {
    version: u32,
    texts: Texts,
    /// The template made ready, once for all that share it.
    #[serde(skip)]
    reader: Made<Arc<OnceLock<Texts>>>,
}

/// What is made of the texts beside it. It has no information beyond them, so that all are equal.
#[derive(Clone, Default)]
struct Made<T>(T);

impl<T> PartialEq for Made<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Made<T> {}

impl<T> fmt::Debug for Made<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("made of it")
    }
}

impl Former {
    fn new(version: u32, texts: Texts) -> Self {
        Self { version, texts, reader: Made::default() }
    }

    /// The verified texts. A failure is tried again the next time, since a missing key may be present by then.
    fn proven(&self) -> Result<&Texts, FieldFault> {
        if let Some(proven) = self.reader.0.get() {
            return Ok(proven);
        }
        let proven = self.texts.clone().proven()?;
        Ok(self.reader.0.get_or_init(|| proven))
    }
}

/// [`Unique`] as a definition writes it; the default is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum UniqueWord {
    Period,
    Partition,
}

impl Texts {
    /// Texts of a template, not verified yet.
    pub fn new(template: impl Into<String>) -> Self {
        Self { template: template.into(), zone: ZONE_DEFAULT.to_owned(), ..Self::default() }
    }

    /// The zone of dates and periods: an IANA name; `UTC` by default.
    #[must_use]
    pub fn zone(self, zone: impl Into<String>) -> Self {
        Self { zone: zone.into(), ..self }
    }

    /// The longest text, in characters; 128 by default.
    #[must_use]
    pub fn maxlen(self, maxlen: Option<usize>) -> Self {
        Self { maxlen, ..self }
    }

    /// The characters of texts, as between the brackets of a regular expression; all visible ones by default.
    #[must_use]
    pub fn charset(self, charset: Option<String>) -> Self {
        Self { charset: charset.filter(|charset| !charset.is_empty()), ..self }
    }

    /// The scope in which texts are unique: `global` (the default), `period` or `partition`.
    pub fn unique(self, word: Option<&str>) -> Result<Self, FieldFault> {
        let unique = match word {
            None | Some("global") => None,
            Some("period") => Some(UniqueWord::Period),
            Some("partition") => Some(UniqueWord::Partition),
            Some(word) => {
                let bound = "global, period and partition are allowed";
                return Err(FieldFault::new("unique", format!("{word:?}"), bound));
            }
        };
        Ok(Self { unique, ..self })
    }

    /// The largest distance of a caller's `at` from now, in seconds and either way; unlimited by default.
    #[must_use]
    pub fn window_s(self, window_s: Option<u64>) -> Self {
        Self { window_s, ..self }
    }

    /// How many periods before the present one can still be requested; counters of older ones are removed. By default
    /// every period can be requested, and no counter is removed.
    #[must_use]
    pub fn retain_periods(self, retain_periods: Option<u32>) -> Self {
        Self { retain_periods, ..self }
    }

    /// Texts of a sequence, if `obf` hides numbers: each sequence hides them differently. Without it the texts belong
    /// to no sequence; a definition gets its sequence's name at import.
    #[must_use]
    pub fn of_sequence(self, name: &SequenceName) -> Self {
        Self { tweak: Some(name.to_string()), ..self }
    }

    /// The same, parsed and verified. The fault is one of the template, or of a field beside it, and includes the
    /// remedy.
    pub fn proven(mut self) -> Result<Self, FieldFault> {
        let read = Template::parse(&self.template);
        let read = read.map_err(|error| self.fault(error.column, &error.to_string()))?;
        let settings = self.settings();
        let proof = read.analyze(&settings);
        let format = proof.map_err(|error| self.fault(column(&error), &error.to_string()))?;
        if read.key_name().is_none() {
            self.tweak = None;
        }
        let key = read.key_name().and_then(|name| Some((name, settings.keys.get(name)?)));
        if let Some((name, key)) = key {
            let check = key.check().map_err(|bound| self.fault(1, &bound))?;
            if self.key_check.as_ref().is_some_and(|held| *held != check) {
                let bound = format!(
                    "obf names the key {name:?}, and this process holds another one of that name than the one that hid \
                     the texts that are out: configure that one"
                );
                return Err(self.fault(1, &bound));
            }
            self.key_check = Some(check);
        }
        self.check_retained(&format)?;
        self.proven = Made(Some(format));
        Ok(self)
    }

    /// Whether a key hides its numbers.
    pub fn hides(&self) -> bool {
        self.key_check.is_some()
    }

    /// Whether a key hides its numbers, or hid those of an earlier version.
    pub(crate) fn has_hidden(&self) -> bool {
        self.hides() || self.before.iter().any(|former| former.texts.hides())
    }

    /// The renderer and parser of texts; `None` before [`proven`](Self::proven).
    pub fn format(&self) -> Option<&Format> {
        self.proven.0.as_ref()
    }

    /// The largest distance of a caller's `at` from now, in seconds; `None`: unlimited.
    pub fn window(&self) -> Option<u64> {
        self.window_s
    }

    /// How many periods before the present one are kept; `None`: all of them.
    pub fn retained(&self) -> Option<u32> {
        self.retain_periods
    }

    /// Refuses a template that a book's numbers could not follow: rule S8.
    pub(crate) fn check_book(&self) -> Result<(), FieldFault> {
        let Some(format) = self.format() else { return Ok(()) };
        let book = Settings { placement: sequent_format::Placement::Book, ..format.settings().clone() };
        let proof = format.template().analyze(&book).map(drop);
        proof.map_err(|error| self.fault(column(&error), &error.to_string()))
    }

    /// The fault of the template, with its column.
    fn fault(&self, column: usize, bound: &str) -> FieldFault {
        let value = excerpt::quoted(&self.template, column);
        FieldFault::new("template", value, bound.replace('\n', "; "))
    }

    fn check_retained(&self, format: &Format) -> Result<(), FieldFault> {
        let Some(periods) = self.retain_periods else { return Ok(()) };
        let fault = |bound: &str| FieldFault::new("retain_periods", periods, bound);
        if !(1..=RETAINED_MAX).contains(&periods) {
            return Err(fault(&format!("1 to {RETAINED_MAX} are allowed")));
        }
        if format.reset() == Reset::Never {
            return Err(fault("the counter of this template never begins again: leave it out"));
        }
        Ok(())
    }

    /// The template as it was written.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// The longest text, in characters.
    pub fn maxlen_in_force(&self) -> usize {
        self.settings().maxlen
    }

    /// The zone of dates and periods.
    pub fn zone_name(&self) -> &str {
        &self.zone
    }

    /// The characters of texts; empty: all visible ones.
    pub fn charset_in_force(&self) -> &str {
        self.charset.as_deref().unwrap_or_default()
    }

    /// The name of the scope in which texts are unique.
    pub fn unique_word(&self) -> &'static str {
        match self.unique {
            None => "global",
            Some(UniqueWord::Period) => "period",
            Some(UniqueWord::Partition) => "partition",
        }
    }

    fn settings(&self) -> Settings {
        let default = Settings::default();
        Settings {
            name: self.tweak.clone().unwrap_or_default(),
            zone: self.zone.clone(),
            maxlen: self.maxlen.unwrap_or(default.maxlen),
            charset: self.charset.clone().unwrap_or_default(),
            unique: match self.unique {
                None => Unique::Global,
                Some(UniqueWord::Period) => Unique::Period,
                Some(UniqueWord::Partition) => Unique::Partition,
            },
            keys: (*obf_keys::held()).clone(),
            registry: functions::registered(),
            ..default
        }
    }
}

/// The column at which the first rule is broken.
fn column(error: &AnalysisError) -> usize {
    error.faults.first().map_or(1, |fault| fault.column)
}
