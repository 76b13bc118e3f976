//! How fast a counter is consumed, and so how far ahead its ceiling should be. Pure: takes `now`.

use std::time::{Duration, Instant};

/// The window over which consumption is measured; the last full one and the current one count.
const WINDOW: Duration = Duration::from_secs(10);

/// A ceiling is ahead by this many blocks at least, once a second take has shown that there is demand.
const BLOCKS_MIN: u64 = 4;

/// Consumption of one counter by this process.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    takes: u64,
    block: u64,
    since: Option<Instant>,
    current: u64,
    previous: u64,
}

impl Pace {
    /// Notes a take of `count` ids.
    pub(crate) fn took(&mut self, count: u64, now: Instant) {
        self.takes += 1;
        self.block = count;
        let since = *self.since.get_or_insert(now);
        let passed = now.saturating_duration_since(since);
        if passed >= WINDOW {
            self.previous = if passed < WINDOW * 2 { self.current } else { 0 };
            self.current = 0;
            self.since = Some(now);
        }
        self.current = self.current.saturating_add(count);
    }

    /// The size of the latest block, at least 1.
    pub(crate) fn block(&self) -> u64 {
        self.block.max(1)
    }

    /// How many ids ahead a ceiling should be: none before a second take, so that a process that takes once wastes
    /// nothing, and none for `ahead` of nothing; otherwise `ahead` of consumption, a few blocks at least.
    pub(crate) fn ahead(&self, ahead: Duration) -> u64 {
        if self.takes < 2 || ahead.is_zero() {
            return 0;
        }
        let busiest = u128::from(self.current.max(self.previous));
        let wanted = busiest.saturating_mul(ahead.as_millis()).div_ceil(WINDOW.as_millis());
        u64::try_from(wanted).unwrap_or(u64::MAX).max(self.block().saturating_mul(BLOCKS_MIN))
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "any instant will do")]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_takes_once_is_not_ahead() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.took(5, now);
        assert_eq!(pace.ahead(Duration::from_secs(600)), 0);
        pace.took(5, now);
        assert_eq!(pace.ahead(Duration::from_secs(600)), 600, "ten ids in a window of ten seconds");
    }

    #[test]
    fn less_than_a_window_is_a_part_of_what_it_consumed() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        for _ in 0..1000 {
            pace.took(10, now);
        }
        let ahead = |pace: &Pace, ms| pace.ahead(Duration::from_millis(ms));
        assert_eq!([1, 1000, 2500, 25_000].map(|ms| ahead(&pace, ms)), [40, 1000, 2500, 25_000]);
        pace.took(u64::MAX, now);
        assert_eq!(ahead(&pace, 86_400_000), u64::MAX);
    }

    #[test]
    fn idleness_is_forgotten_after_two_windows() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.took(1000, now);
        pace.took(1000, now + Duration::from_secs(12));
        assert_eq!(pace.ahead(Duration::from_secs(10)), 4000, "four blocks");
        pace.took(1, now + Duration::from_secs(60));
        assert_eq!(pace.ahead(Duration::from_secs(10)), 4);
    }
}
