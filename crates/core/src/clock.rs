//! The one clock. Every other use of `Instant::now` or `SystemTime::now` is banned by the linter.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where a room reads the time, so that tests can pause it and step it.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Monotonic time, for intervals.
    fn now(&self) -> Instant;

    /// Wall time, for people and periods; it may step either way, and no promise rests on it.
    fn wall(&self) -> SystemTime;

    /// Wall time in milliseconds since 1970, 0 for a clock set before that.
    fn wall_ms(&self) -> u64 {
        let since = self.wall().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the one clock")]
    fn now(&self) -> Instant {
        Instant::now()
    }

    #[allow(clippy::disallowed_methods, reason = "this is the one clock")]
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}
