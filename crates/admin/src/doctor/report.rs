//! Report of an examination: plain data, the same for text and JSON.

use std::fmt;

use sequent_core::{SlotIndex, word_enum};
use serde::{Serialize, Serializer};

use super::findings::{Kind, TableRow};

word_enum! {
    /// How much a finding matters.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Severity {
        /// Something can repeat or lose numbers in the present state, or other users of the machine can read a secret.
        Error = "error",
        /// Nothing repeats as far as doctor can tell, but something does not serve, skips numbers, is accessible to
        /// more people than it should be, or is for an operator to judge.
        Warning = "warning",
        /// Worth knowing.
        Info = "info",
    }
}

/// Where something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Site {
    /// In the ledger, or about its server.
    Ledger,
    /// In a slot's store, or about its server.
    Slot(SlotIndex),
    /// In the relation between places.
    Ring,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ledger => f.write_str("ledger"),
            Self::Slot(slot) => write!(f, "slot {slot}"),
            Self::Ring => f.write_str("ring"),
        }
    }
}

impl Serialize for Site {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A problem or a fact that an operator should know: a row of the [table](Kind), with its fields filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind.
    #[serde(rename = "id")]
    pub kind: Kind,
    /// The severity.
    pub severity: Severity,
    /// The place.
    pub place: Site,
    /// What was found, and what was expected.
    pub found: String,
    /// What it means.
    pub means: String,
    /// What to do.
    pub advice: String,
    /// The first few of the keys concerned, for a finding about counters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
}

impl Finding {
    /// A finding of this kind at `place`.
    pub(super) fn new(kind: Kind, place: Site, found: impl Into<String>) -> Self {
        let TableRow { severity, means, advice, .. } = kind.row();
        let advice = match place {
            Site::Slot(slot) => advice.replace("SLOT", &slot.to_string()),
            Site::Ledger | Site::Ring => advice.to_owned(),
        };
        let (found, means) = (found.into(), means.to_owned());
        Self { kind, severity, place, found, means, advice, keys: Vec::new() }
    }

    /// A running server that gives nothing new before an operator acts: its address, and its own reason.
    pub fn of_server(address: &str, trouble: &str) -> Self {
        let found = format!("the server at {address} answers RECOVERY_REQUIRED: {trouble}");
        Self::new(Kind::ServerWaits, Site::Ring, found)
    }

    /// Files of `[tls]` that do not fit: what is wrong with them, or which server refused them and why.
    pub fn of_tls(found: impl Into<String>) -> Self {
        Self::new(Kind::TlsUnfit, Site::Ring, found.into())
    }

    /// The same, with an exact cause before its meaning.
    pub(super) fn because(self, cause: &str) -> Self {
        let means = if cause.is_empty() { self.means } else { format!("{cause}. {}", self.means) };
        Self { means, ..self }
    }

    /// The same, with more exact advice, if there is any.
    pub(super) fn advise(self, advice: impl Into<String>) -> Self {
        let advice = Some(advice.into()).filter(|advice| !advice.is_empty()).unwrap_or(self.advice);
        Self { advice, ..self }
    }
}

/// A place that was examined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlaceReport {
    /// The place.
    pub place: Site,
    /// The kind of store or ledger.
    pub store: &'static str,
    /// Its address, without secrets.
    pub address: String,
    /// Whether it could be examined.
    pub reached: bool,
    /// The engine's name and version.
    pub version: Option<String>,
    /// `durable`, `lossy` or `volatile`.
    pub durability: Option<&'static str>,
    /// The settings that decided the class.
    pub settings: Vec<(String, String)>,
    /// The difference between its clock and this machine's, in milliseconds; positive if it is ahead.
    pub clock_off_ms: Option<i64>,
    /// What was examined and is as it should be.
    pub fine: Vec<String>,
}

/// The result of an examination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checkup {
    /// The cluster's name.
    pub cluster: String,
    /// The number of errors: something can repeat or lose numbers.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The number of findings that are only worth knowing.
    pub infos: usize,
    /// The places that could not be examined.
    pub unreached: Vec<Site>,
    /// The places, the ledger first.
    pub places: Vec<PlaceReport>,
    /// The findings by place, the gravest first.
    pub findings: Vec<Finding>,
}

impl Checkup {
    pub(super) fn new(cluster: String, mut places: Vec<PlaceReport>, mut findings: Vec<Finding>) -> Self {
        places.sort_by_key(|place| place.place);
        findings.sort_by_key(|finding| (finding.place, finding.severity));
        let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
        Self {
            cluster,
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            infos: count(Severity::Info),
            unreached: places.iter().filter(|place| !place.reached).map(|place| place.place).collect(),
            places,
            findings,
        }
    }

    /// The same, with more findings.
    #[must_use]
    pub fn with(self, more: impl IntoIterator<Item = Finding>) -> Self {
        let findings = self.findings.into_iter().chain(more).collect();
        Self::new(self.cluster, self.places, findings)
    }
}
