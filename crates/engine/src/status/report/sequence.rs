//! A sequence: what is in force of it, what waits, its counters.

use sequent_core::SlotIndex;
use serde::Serialize;

use super::QuarantineReport;

/// A sequence in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SequenceSummary {
    /// The name.
    pub sequence: String,
    /// The version in force.
    pub version: u32,
    /// Where it counts.
    pub placement: &'static str,
    /// The first number.
    pub start: u64,
    /// The distance between neighbours.
    pub step: u64,
    /// The highest number allowed.
    pub end: u64,
    /// The template of its texts, if it has one.
    pub template: Option<String>,
    /// Why it can't be used, if so.
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
    /// From when on it is in effect, RFC 3339.
    pub effective: String,
    /// The template of its texts, if it has one.
    pub template: Option<String>,
}

/// A sequence with its counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SequenceReport {
    /// The definition in force.
    #[serde(flatten)]
    pub summary: SequenceSummary,
    /// The definition as the ledger keeps it.
    pub definition: String,
    /// Its counters, as the ledger has them: at most [`COUNTERS_SHOWN_MAX`].
    pub counters: Vec<CounterReport>,
    /// Its dense counters, as the ledger has them: at most [`COUNTERS_SHOWN_MAX`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dense: Vec<DenseReport>,
    /// Those of them from which nothing is taken before an operator has cleared them.
    pub quarantined: Vec<QuarantineReport>,
}

/// The most counters that one report shows.
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
    /// No raw id above this may leave a server before the ledger has a higher ceiling.
    pub ceiling: u64,
    /// The highest raw id reported as taken.
    pub seen: u64,
    /// The highest number that the ceiling permits, as far as the layout goes.
    pub number_max: Option<u64>,
    /// When the epoch was opened, in milliseconds since 1970.
    pub opened_at_ms: u64,
}

/// A dense counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DenseReport {
    /// The key.
    pub key: String,
    /// How many numbers it has given.
    pub given: u64,
    /// The last of them, 0 for none.
    pub number: u64,
    /// When it gave its first, in milliseconds since 1970.
    pub begun_at_ms: u64,
}
