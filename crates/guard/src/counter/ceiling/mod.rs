//! Ceilings: how far ahead they are, how they are raised, and what is reported to the ledger.

pub(super) mod gaps;
pub(super) mod headroom;
pub(super) mod high_water;
pub(super) mod rate;
pub(super) mod report;
