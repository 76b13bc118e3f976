//! Reports for operators: plain data, the same for text and JSON.

mod sequence;
mod shard;
mod status;

use serde::Serializer;

pub use sequence::{
    COUNTERS_SHOWN_MAX, CounterReport, DenseReport, KnownSequence, KnownSequences, SequenceReport,
    SequenceSummary, WaitingReport,
};
pub use shard::{
    Cause, Found, QuarantineReport, RESTING_SHOWN_MAX, RestReport, ShardReport, SlotCommandReport,
};
pub use status::{BehindReport, DenseBehindReport, EventReport, KeyReport, Status};

/// Numbers are strings in JSON, since parsers round them above 2^53.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(crate) fn as_text<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(number)
}
