//! Reports for operators: plain data, the same for text and JSON.

mod sequence;
mod shard;
mod status;

pub use sequence::{
    COUNTERS_SHOWN_MAX, CounterReport, DenseReport, SequenceReport, SequenceSummary, WaitingReport,
};
pub use shard::{
    Cause, Found, QuarantineReport, RESTING_SHOWN_MAX, RestReport, ShardReport, SlotCommandReport,
};
pub use status::{BehindReport, DenseBehindReport, EventReport, KeyReport, Status};
