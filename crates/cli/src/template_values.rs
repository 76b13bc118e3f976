//! Arguments for templates: values, and the numbering settings.

use clap::Args;
use sequent_client::v1;
use sequent_core::{Clock as _, FieldFault, SystemClock};
use sequent_engine::{INSTANT_EXPECTED, Texts, Timestamp, Values};
use serde::Serialize;

use crate::{failure::Failure, open_cluster::sequence_name, output};

/// The values of a request for a template.
#[derive(Debug, Clone, Args)]
pub(crate) struct TemplateValues {
    /// A value for the template: --with area=010
    #[arg(long = "with", value_name = "NAME=VALUE")]
    with: Vec<String>,
    /// The instant that counts: 2026-04-01T09:00:00+08:00, or a date or time of the zone [default: now]
    #[arg(long, value_name = "INSTANT")]
    pub(crate) at: Option<String>,
}

impl TemplateValues {
    /// The values, each name once. Every request reads them first, so an empty instant is refused here. A
    /// server would take an empty instant as absent, and thus as now.
    pub(crate) fn values(&self) -> Result<Values, Failure> {
        if self.at.as_deref() == Some("") {
            let bound = format!("{INSTANT_EXPECTED}; without it now counts");
            return Err(Failure::argument("--at", "", bound));
        }
        values_of(&self.with)
    }
}

/// The instant that counts if none is named.
pub(crate) fn now() -> Timestamp {
    let now = i64::try_from(SystemClock.wall_ms()).ok();
    now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default()
}

/// The values of such pairs, each name once.
pub(crate) fn values_of(pairs: &[String]) -> Result<Values, Failure> {
    let mut values = Values::new();
    for pair in pairs {
        let expected = || Failure::argument("--with", pair, "NAME=VALUE is expected");
        let (name, value) = pair.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(expected)?;
        if values.get(name).is_some() {
            return Err(Failure::argument("--with", pair, "it was said before: say it once"));
        }
        values = values.with(name, value);
    }
    Ok(values)
}

/// The settings around a template in a definition.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct NumberingArgs {
    /// The zone that dates are shown and periods are counted in: an IANA name [default: UTC]
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// The longest text, in characters [default: 128]
    #[arg(long, value_name = "CHARS")]
    maxlen: Option<usize>,
    /// The characters of texts, as between the brackets of a regular expression: A-Z0-9/-
    #[arg(long, value_name = "CHARSET", allow_hyphen_values = true)]
    charset: Option<String>,
    /// The scope in which texts of this sequence are unique: global, period or partition; texts of other
    /// sequences are not checked [default: global]
    #[arg(long, value_name = "AMONG")]
    unique: Option<String>,
}

impl NumberingArgs {
    /// Texts of a template with these settings, not proven yet.
    pub(crate) fn texts(&self, template: &str) -> Result<Texts, Failure> {
        let texts = Texts::new(template).maxlen(self.maxlen).charset(self.charset.clone());
        let texts = match &self.zone {
            Some(zone) => texts.zone(zone),
            None => texts,
        };
        texts.unique(self.unique.as_deref()).map_err(|fault| refused(&fault))
    }

    /// The same settings with a template, for a server.
    pub(crate) fn wire(&self, template: &str) -> v1::Definition {
        v1::Definition {
            template: template.to_owned(),
            zone: self.zone.clone().unwrap_or_default(),
            maxlen: self.maxlen.map(|length| length as u64),
            charset: self.charset.clone().unwrap_or_default(),
            unique: self.unique.clone().unwrap_or_default(),
            ..v1::Definition::default()
        }
    }

    /// Whether no setting is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.zone.is_none() && self.maxlen.is_none() && self.charset.is_none() && self.unique.is_none()
    }
}

/// The sequence that a template belongs to.
#[derive(Debug, Clone, Args)]
pub(crate) struct TemplateSource {
    /// The sequence of the template: `obf` hides the numbers of each sequence in a different way
    #[arg(long, value_name = "NAME")]
    sequence: Option<String>,
}

impl TemplateSource {
    /// The texts as those of the sequence.
    pub(crate) fn texts(&self, texts: Texts) -> Result<Texts, Failure> {
        Ok(match &self.sequence {
            Some(name) => texts.of_sequence(&sequence_name(name)?),
            None => texts,
        })
    }

    /// Warns if texts with `obf` were checked without a sequence.
    pub(crate) fn warn(&self, texts: &Texts) {
        if self.sequence.is_none() && texts.hides() {
            output::say(
                "warning: obf hides the numbers of each sequence in a way of its own, and this is none's: name it by --sequence",
            );
        }
    }
}

/// A refused field of a definition.
pub(crate) fn refused(fault: &FieldFault) -> Failure {
    // A text value is quoted already.
    let value = fault.value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    Failure::argument(&fault.field, value.unwrap_or(&fault.value), fault.bound.clone())
}
