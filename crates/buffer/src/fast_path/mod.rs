//! The lock-free fast path, model-checked by loom.

pub(crate) mod ticket_counter;
pub(crate) mod ticket_ranges;

#[cfg(all(test, loom))]
mod loom_tests;
