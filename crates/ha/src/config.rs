//! What an operator may tune about the ring.

use std::time::Duration;

use crate::ring::ask::ASK_ATTEMPTS;

/// Thresholds and waits, shared by all slots. The default is the design's.
///
/// ```
/// use sequent_ha::RingConfig;
/// use std::time::Duration;
/// let config = RingConfig { slow_limit: 5, ..RingConfig::default() };
/// assert_eq!(config.attempt_timeout, Duration::from_secs(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingConfig {
    /// An attempt slower than this is a slow event, though its block is used. Default 200 ms.
    pub slow_after: Duration,
    /// So many slow events within the window evict; 0 counts as 1. Default 3.
    pub slow_limit: u32,
    /// How long a slow event is remembered. Default 60 s.
    pub slow_window: Duration,
    /// An attempt stops here: its outcome is unknown, its numbers are burnt. Default 1000 ms.
    pub attempt_timeout: Duration,
    /// The wait before the first rescue; it doubles, with jitter. Default 500 ms.
    pub rescue_after: Duration,
    /// The longest wait before a rescue. Default 300 s.
    pub rescue_after_max: Duration,
}

impl RingConfig {
    /// How long an ask that a slot was given may last: a slot that drains owes nothing after that.
    pub fn longest_ask(&self) -> Duration {
        self.attempt_timeout * ASK_ATTEMPTS
    }
}

impl Default for RingConfig {
    fn default() -> Self {
        Self {
            slow_after: Duration::from_millis(200),
            slow_limit: 3,
            slow_window: Duration::from_secs(60),
            attempt_timeout: Duration::from_secs(1),
            rescue_after: Duration::from_millis(500),
            rescue_after_max: Duration::from_secs(300),
        }
    }
}
