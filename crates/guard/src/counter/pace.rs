//! How fast a counter is consumed, and so how far ahead its ceiling should be. Pure: takes `now`.

use std::time::{Duration, Instant};

/// The window over which consumption is measured.
const WINDOW: Duration = Duration::from_secs(10);

/// The busiest window counts for so long.
const KEPT: Duration = Duration::from_secs(120);

/// A ceiling is ahead by this many blocks at least, once a second take has shown that there is demand.
const BLOCKS_MIN: u64 = 4;

/// How many ids should be left under a ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Headroom {
    /// What a raise goes for.
    pub(crate) full: u64,
    /// A raise is due where fewer are left.
    pub(crate) least: u64,
}

/// Consumption of one counter by this process.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    takes: u64,
    block: u64,
    since: Option<Instant>,
    current: u64,
    /// The busiest window that has ended lately, and when it did.
    busiest: Option<(u64, Instant)>,
}

impl Pace {
    /// Notes a take of `count` ids.
    pub(crate) fn took(&mut self, count: u64, now: Instant) {
        self.takes += 1;
        self.block = count;
        let since = *self.since.get_or_insert(now);
        let passed = now.saturating_duration_since(since);
        if passed >= WINDOW {
            let is_over = |at: Instant| now.saturating_duration_since(at) >= KEPT;
            let held = self.busiest.filter(|(_, at)| !is_over(*at));
            let ended = Some((self.current, now)).filter(|_| passed < KEPT);
            self.busiest = held.into_iter().chain(ended).max_by_key(|(count, _)| *count);
            self.current = 0;
            self.since = Some(now);
        }
        self.current = self.current.saturating_add(count);
    }

    /// The size of the latest block, at least 1.
    pub(crate) fn block(&self) -> u64 {
        self.block.max(1)
    }

    /// Ids a window, by the busiest of the last two minutes.
    fn busiest(&self) -> u64 {
        self.current.max(self.busiest.map_or(0, |(count, _)| count))
    }

    /// Ids a second, by the busiest window of the last two minutes; 0 where nothing was taken in that time.
    pub(crate) fn rate(&self, now: Instant) -> f64 {
        let idle = self.since.is_none_or(|since| now.saturating_duration_since(since) >= KEPT);
        #[allow(clippy::cast_precision_loss, reason = "a rate is a double")]
        let rate = self.busiest() as f64 / WINDOW.as_secs_f64();
        if idle { 0.0 } else { rate }
    }

    /// How many ids should be left under the ceiling, so that numbers go on for `outage` without the ledger.
    ///
    /// A raise is due below 80 % of `outage` at *twice* the rate: the rate may double at the very moment when the ledger goes away,
    /// since one partition may take half of the shards, too. It comes `margin` earlier, which is how long a raise may
    /// take. Nothing is ahead before a second take, so that a process that takes once wastes nothing, and none for an outage of no time.
    pub(crate) fn headroom(&self, outage: Duration, margin: Duration) -> Headroom {
        if self.takes < 2 || outage.is_zero() {
            return Headroom::default();
        }
        let blocks = self.block().saturating_mul(BLOCKS_MIN);
        let (full, least) = (outage * 2 + margin * 2, outage * 8 / 5 + margin);
        Headroom { full: self.lasting(full).max(blocks), least: self.lasting(least).max(blocks / 2) }
    }

    /// So many ids last for `time`.
    fn lasting(&self, time: Duration) -> u64 {
        let ids = u128::from(self.busiest()).saturating_mul(time.as_millis()).div_ceil(WINDOW.as_millis());
        u64::try_from(ids).unwrap_or(u64::MAX)
    }
}

impl Headroom {
    /// The same, of a ceiling that may be ahead by `most` ids.
    pub(crate) fn at_most(self, most: u64) -> Self {
        let Self { full, least } = self;
        if full <= most { self } else { Self { full: most, least: least.min(most - most / 5) } }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "any instant will do")]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn headroom(pace: &Pace, seconds: u32) -> (u64, u64) {
        let Headroom { full, least } = pace.headroom(SECOND * seconds, Duration::ZERO);
        (full, least)
    }

    #[test]
    fn a_process_that_takes_once_is_not_ahead() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.took(5, now);
        assert_eq!(headroom(&pace, 600), (0, 0));
        pace.took(5, now);
        assert_eq!(
            headroom(&pace, 600),
            (1200, 960),
            "ten ids in a window of ten seconds, and twice as many"
        );
        assert_eq!(headroom(&pace, 0), (0, 0));
    }

    #[test]
    fn at_twice_the_rate_four_fifths_of_the_outage_are_left_when_a_raise_is_due() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        for second in 0..600 {
            pace.took(100, now + SECOND * second);
        }
        let Headroom { full, least } = pace.headroom(SECOND * 600, SECOND * 3);
        assert!(least >= 200 * 480 + 100 * 3, "{least}");
        assert_eq!(full, 100 * (1200 + 6));
    }

    #[test]
    fn a_bounded_ceiling_is_raised_when_a_fifth_of_what_it_may_hold_is_gone() {
        let wanted = Headroom { full: 1000, least: 800 };
        assert_eq!(wanted.at_most(1000), wanted);
        assert_eq!(wanted.at_most(100), Headroom { full: 100, least: 80 });
        assert_eq!(wanted.at_most(1), Headroom { full: 1, least: 1 });
    }

    #[test]
    fn no_amount_overflows() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.took(u64::MAX, now);
        pace.took(u64::MAX, now);
        assert_eq!(headroom(&pace, 86_400), (u64::MAX, u64::MAX));
    }

    #[test]
    fn the_busiest_ten_seconds_of_two_minutes_count() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.took(1000, now);
        pace.took(10, now + SECOND * 12);
        for tens in 2..11 {
            pace.took(10, now + SECOND * 12 * tens);
            assert!((pace.rate(now + SECOND * 12 * tens) - 100.0).abs() < 1e-9, "{tens}");
        }
        for tens in 11..14 {
            pace.took(10, now + SECOND * 12 * tens);
        }
        let later = now + SECOND * 12 * 13;
        assert!((pace.rate(later) - 1.0).abs() < 1e-9, "{pace:?}");
        assert!(pace.rate(later + KEPT) < 1e-9, "idle");
    }
}
