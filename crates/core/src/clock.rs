//! Clock: the only source of time. The linter forbids `Instant::now` and `SystemTime::now` everywhere else.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Time source of a component, so that tests can pause and step time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Monotonic time, for intervals.
    fn now(&self) -> Instant;

    /// Wall time, for people and periods. It may step in either direction; uniqueness does not depend on it.
    fn wall(&self) -> SystemTime;

    /// Wall time in milliseconds since 1970; 0 if the clock is set before that.
    fn wall_ms(&self) -> u64 {
        let since = self.wall().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        whole_ms(since)
    }
}

/// The whole milliseconds of a duration.
pub fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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
