//! Events as log lines, metrics, and a short memory of what happened lately.

use sequent_core::Event;

/// How many events an engine remembers for its status.
pub const RECENT_MAX: usize = 256;

/// An event with its time.
#[derive(Debug, Clone)]
pub struct Recent {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What.
    pub event: Event,
}

/// Tells the metrics recorder name, unit and meaning of every metric. Call once, after a recorder is installed.
pub fn describe_metrics() {
    todo!()
}
