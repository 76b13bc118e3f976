//! Statistics of a reservoir.

use std::time::Duration;

use sequent_core::SourceError;

/// The state of a reservoir at one moment. Counts begin when it is created.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Numbers ready in memory.
    pub reserve: u64,
    /// Numbers that a crash now would discard: the reserve, and what local handles hold.
    pub at_risk: u64,
    /// Numbers issued. A chunk of a local handle counts as issued when the handle takes it.
    pub issued: u64,
    /// Numbers discarded here: expired, trimmed, left at a close, or lost to a stalled caller.
    pub discarded: u64,
    /// Refills that gave numbers.
    pub refills: u64,
    /// Refills that failed.
    pub refills_failed: u64,
    /// Callers that had to wait.
    pub waits: u64,
    /// Callers that are waiting now.
    pub waiting: usize,
    /// Consumption over the short window, in numbers per second.
    pub rate_short: f64,
    /// Consumption over the long window, in numbers per second.
    pub rate_long: f64,
    /// How long the last refill took.
    pub refill_last: Option<Duration>,
    /// How long nothing has been taken, as far as the slow path and calls of `stats` could see.
    pub idle: Duration,
    /// Whether a refill is in flight.
    pub refilling: bool,
    /// The error of the last refill, or `None` if it succeeded.
    pub last_error: Option<SourceError>,
}
