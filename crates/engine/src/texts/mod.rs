//! What a definition says of its texts: the template, and what stands around it. Proven before it is anybody's.

use std::sync::{Arc, OnceLock};

use sequent_core::SequenceName;
use sequent_format::{AnalysisError, Format, Reset, Settings, Template, Unique};
use serde::{Deserialize, Serialize};

use crate::catalog::definition::BodyFault;

mod excerpt;
pub(crate) mod obf_keys;
pub(crate) mod preview_parse;
mod reading;
mod succession;

pub use reading::ReadFault;
pub use succession::FORMER_TEMPLATES_MAX;

/// The most periods that may be kept: eleven years of hours. One at least: servers' clocks differ.
pub const RETAINED_MAX: u32 = 100_000;

/// The zone of dates and periods where nobody names one.
pub(crate) const ZONE_DEFAULT: &str = "UTC";

/// What a definition says of its texts. Every field but the template has a default.
///
/// ```
/// use sequent_engine::Texts;
/// let order = Texts::new("@{date,yyyyMMdd}@{seq,w=5}").zone("Asia/Shanghai").proven()?;
/// assert_eq!(order.format().map(|format| format.max_len()), Some(27));
/// let error = Texts::new("@{ctx,store}@{seq,w=8}").proven().unwrap_err();
/// assert!(error.bound.starts_with("S1, column 1: "), "{}", error.bound);
/// # Ok::<(), sequent_engine::BodyFault>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// What tells the key of `obf` from others: it was there when the template was proven first, and no other will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_check: Option<String>,
    /// The sequence's name, as part of what `obf` hides with; absent in what was defined before it was part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tweak: Option<String>,
    /// What versions before had, where it was another template: their texts are out, and are still read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<Former>,
    #[serde(skip)]
    proven: Proven,
}

/// What a version before said of its texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Former {
    version: u32,
    texts: Texts,
    #[serde(skip)]
    reader: Reader,
}

/// A former template made ready, once for all that know of it. It says nothing that the texts beside it do not say.
#[derive(Debug, Clone, Default)]
struct Reader(Arc<OnceLock<Texts>>);

impl PartialEq for Reader {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Reader {}

impl Former {
    fn new(version: u32, texts: Texts) -> Self {
        Self { version, texts, reader: Reader::default() }
    }

    /// Its texts, proven; what fails is tried again the next time, since a key may be there by then.
    fn proven(&self) -> Result<&Texts, BodyFault> {
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

/// A template made ready. It says nothing that the texts around it do not say.
#[derive(Clone, Default)]
struct Proven(Option<Format>);

impl PartialEq for Proven {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Proven {}

impl std::fmt::Debug for Proven {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "proven" } else { "not proven" })
    }
}

impl Texts {
    /// Texts of a template, not proven yet.
    pub fn new(template: impl Into<String>) -> Self {
        Self {
            template: template.into(),
            zone: ZONE_DEFAULT.to_owned(),
            maxlen: None,
            charset: None,
            unique: None,
            window_s: None,
            retain_periods: None,
            key_check: None,
            tweak: None,
            before: Vec::new(),
            proven: Proven(None),
        }
    }

    /// The zone that dates are shown and periods are counted in: an IANA name; `UTC` by default.
    #[must_use]
    pub fn zone(self, zone: impl Into<String>) -> Self {
        Self { zone: zone.into(), ..self }
    }

    /// The longest text, in characters; 128 by default.
    #[must_use]
    pub fn maxlen(self, maxlen: Option<usize>) -> Self {
        Self { maxlen, ..self }
    }

    /// The characters of texts, as between the brackets of a regular expression; by default all that is visible.
    #[must_use]
    pub fn charset(self, charset: Option<String>) -> Self {
        Self { charset: charset.filter(|charset| !charset.is_empty()), ..self }
    }

    /// Among what texts are unique: `global` (the default), `period` or `partition`.
    pub fn unique(self, word: Option<&str>) -> Result<Self, BodyFault> {
        let unique = match word {
            None | Some("global") => None,
            Some("period") => Some(UniqueWord::Period),
            Some("partition") => Some(UniqueWord::Partition),
            Some(word) => {
                let bound = "global, period and partition are allowed".to_owned();
                return Err(BodyFault { field: "unique", value: format!("{word:?}"), bound });
            }
        };
        Ok(Self { unique, ..self })
    }

    /// How far from now, in seconds and either way, a caller's `at` may be; by default any instant may be named.
    #[must_use]
    pub fn window_s(self, window_s: Option<u64>) -> Self {
        Self { window_s, ..self }
    }

    /// How many periods before the present one may still be asked for; counters of older ones are forgotten. By default
    /// all may, and none is.
    #[must_use]
    pub fn retain_periods(self, retain_periods: Option<u32>) -> Self {
        Self { retain_periods, ..self }
    }

    /// Texts of a sequence, where `obf` hides numbers: each sequence hides them in a way of its own. Without it they are
    /// nobody's; a definition is given its sequence's name as it is brought.
    #[must_use]
    pub fn of_sequence(self, name: &SequenceName) -> Self {
        Self { tweak: Some(name.to_string()), ..self }
    }

    /// The same, read and proven; the fault is the template's, or that of a field around it, and says how to mend it.
    pub fn proven(mut self) -> Result<Self, BodyFault> {
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
        self.proven = Proven(Some(format));
        Ok(self)
    }

    /// Whether a key hides its numbers.
    pub fn hides(&self) -> bool {
        self.key_check.is_some()
    }

    /// What renders and reads texts; `None` before [`proven`](Self::proven).
    pub fn format(&self) -> Option<&Format> {
        self.proven.0.as_ref()
    }

    /// How far a caller's `at` may be from now, in seconds; `None`: as far as it likes.
    pub fn window(&self) -> Option<u64> {
        self.window_s
    }

    /// How many periods before the present one are kept; `None`: all of them.
    pub fn retained(&self) -> Option<u32> {
        self.retain_periods
    }

    /// Refuses a template that a book's numbers could not keep to: rule S8.
    pub(crate) fn check_book(&self) -> Result<(), BodyFault> {
        let Some(format) = self.format() else { return Ok(()) };
        let book = Settings { placement: sequent_format::Placement::Book, ..format.settings().clone() };
        let proof = format.template().analyze(&book).map(drop);
        proof.map_err(|error| self.fault(column(&error), &error.to_string()))
    }

    /// What is wrong with the template, and where.
    fn fault(&self, column: usize, bound: &str) -> BodyFault {
        let value = excerpt::quoted(&self.template, column);
        BodyFault { field: "template", value, bound: bound.replace('\n', "; ") }
    }

    fn check_retained(&self, format: &Format) -> Result<(), BodyFault> {
        let Some(periods) = self.retain_periods else { return Ok(()) };
        let fault = |bound: String| BodyFault { field: "retain_periods", value: periods.to_string(), bound };
        if !(1..=RETAINED_MAX).contains(&periods) {
            return Err(fault(format!("1 to {RETAINED_MAX} are allowed")));
        }
        if format.reset() == Reset::Never {
            return Err(fault("the counter of this template never begins again: leave it out".to_owned()));
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

    /// The characters of texts; empty: all that is visible.
    pub fn charset_in_force(&self) -> &str {
        self.charset.as_deref().unwrap_or_default()
    }

    /// The word for what texts are unique among.
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
            ..default
        }
    }
}

/// Where the first rule is broken.
fn column(error: &AnalysisError) -> usize {
    error.faults.first().map_or(1, |fault| fault.column)
}
