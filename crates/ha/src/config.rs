//! Configuration of the ring: thresholds, time limits and waits.

use std::time::Duration;

/// A request to a slot may take this many attempt limits: read, close, open, install, lift, take, raise and mark. A
/// request that is not done by then is given up.
pub(crate) const REQUEST_ATTEMPTS: u32 = 8;

/// Thresholds and waits, shared by all slots.
///
/// ```
/// use sequent_ha::RingConfig;
/// use std::time::Duration;
/// let config = RingConfig { slow_limit: 5, ..RingConfig::default() };
/// assert_eq!(config.attempt_timeout, Duration::from_secs(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingConfig {
    /// An attempt slower than this counts as a slow event; its block is used all the same. Default 200 ms.
    pub slow_after: Duration,
    /// This many slow events within the window evict a slot; 0 counts as 1. Default 3.
    pub slow_limit: u32,
    /// How long a slow event counts. Default 60 s.
    pub slow_window: Duration,
    /// The time limit of an attempt. After it the outcome is unknown, and its numbers are lost. Default 1000 ms.
    pub attempt_timeout: Duration,
    /// The wait before the first probe of an evicted slot. It doubles, with jitter. Default 500 ms.
    pub rescue_after: Duration,
    /// The longest wait before a probe. Default 300 s.
    pub rescue_after_max: Duration,
}

impl RingConfig {
    /// The longest time that a request to a slot may take. After it, a draining slot has no request in flight.
    pub fn longest_request(&self) -> Duration {
        self.attempt_timeout * REQUEST_ATTEMPTS
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
