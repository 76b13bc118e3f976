//! What a reservoir says about itself.

use std::time::Duration;

use sequent_core::SourceError;

/// A reservoir at one moment. Counts are since it was made.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Numbers ready in memory.
    pub reserve: u64,
    /// Numbers that a crash now would burn: the reserve, and what handles of their own hold.
    pub at_risk: u64,
    /// Numbers handed out (chunks of handles of their own count when they are carved).
    pub dealt: u64,
    /// Numbers burnt here: aged, trimmed, left over at a close, or lost to a stalled caller.
    pub burnt: u64,
    /// Refills that gave numbers.
    pub refills: u64,
    /// Refills that failed.
    pub refills_failed: u64,
    /// Callers that had to wait.
    pub waits: u64,
    /// Callers that wait now.
    pub waiting: usize,
    /// Consumption over the short window, in numbers a second.
    pub rate_short: f64,
    /// Consumption over the long window, in numbers a second.
    pub rate_long: f64,
    /// How long the last refill took.
    pub refill_last: Option<Duration>,
    /// For how long nothing has been taken, as far as turns and calls of `stats` could see.
    pub idle: Duration,
    /// Whether a refill is out.
    pub refilling: bool,
    /// Why the last refill failed; `None` once one has succeeded.
    pub last_error: Option<SourceError>,
}
