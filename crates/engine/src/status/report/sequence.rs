//! A sequence's report: the version in force, waiting versions, counters.

use sequent_core::SlotIndex;
use serde::Serialize;

use super::{QuarantineReport, as_text};

/// A sequence in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SequenceSummary {
    /// The name.
    pub sequence: String,
    /// The version in force.
    pub version: u32,
    /// The placement: `spread` or `dense`.
    pub placement: &'static str,
    /// The first number.
    #[serde(serialize_with = "as_text")]
    pub start: u64,
    /// The distance between neighbours.
    #[serde(serialize_with = "as_text")]
    pub step: u64,
    /// The highest number allowed.
    #[serde(serialize_with = "as_text")]
    pub end: u64,
    /// The template of its texts, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Why it can't be used, if it can't.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Versions that take effect later, the next one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingReport>,
}

/// A version that is not in effect yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingReport {
    /// The version.
    pub version: u32,
    /// When the version takes effect, RFC 3339.
    pub effective: String,
    /// The template of its texts, if it has one.
    pub template: Option<String>,
}

/// Sequences as a server knows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnownSequences {
    /// The sequences, ascending by name.
    pub sequences: Vec<SequenceSummary>,
    /// Whether there are more after the last one.
    pub more: bool,
    /// When the ledger held this, RFC 3339. What was defined later elsewhere may be missing.
    pub as_of: String,
}

/// A sequence as a server knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnownSequence {
    /// The definition in force.
    #[serde(flatten)]
    pub summary: SequenceSummary,
    /// The definition as the ledger keeps it.
    pub definition: String,
    /// When the ledger held this, RFC 3339. What was defined later elsewhere may be missing.
    pub as_of: String,
}

/// A sequence with its counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SequenceReport {
    /// The definition in force.
    #[serde(flatten)]
    pub summary: SequenceSummary,
    /// The definition as the ledger keeps it.
    pub definition: String,
    /// The counters in the ledger: at most [`COUNTERS_SHOWN_MAX`].
    pub counters: Vec<CounterReport>,
    /// The dense counters in the ledger: at most [`COUNTERS_SHOWN_MAX`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dense: Vec<DenseReport>,
    /// The counters in quarantine: they are not used before an operator has cleared them.
    pub quarantined: Vec<QuarantineReport>,
}

/// Upper limit of the counters in one report.
pub const COUNTERS_SHOWN_MAX: usize = 4096;

/// A counter: one key in one slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CounterReport {
    /// The key.
    pub key: String,
    /// The slot.
    pub slot: SlotIndex,
    /// The epoch in force.
    pub epoch: String,
    /// The epoch's raw ids are above this.
    pub base: u64,
    /// No raw id above this may be issued before the ledger has a higher ceiling.
    pub ceiling: u64,
    /// The highest raw id reported as taken.
    pub seen: u64,
    /// The highest number that the ceiling permits, within the layout's bounds.
    pub number_max: Option<u64>,
    /// When the epoch was opened, in milliseconds since 1970.
    pub opened_at_ms: u64,
}

/// A dense counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DenseReport {
    /// The key.
    pub key: String,
    /// Count of numbers issued.
    pub given: u64,
    /// The last number issued, 0 for none.
    pub number: u64,
    /// When the first number was issued, in milliseconds since 1970.
    pub begun_at_ms: u64,
}
