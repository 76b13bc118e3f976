//! How fast a counter is consumed, and so how far ahead its ceiling should be. Pure: takes `now`.

use std::time::{Duration, Instant};

/// The window over which consumption is measured.
const WINDOW: Duration = Duration::from_secs(10);

/// So many of them count: two minutes.
const WINDOWS: usize = 12;

/// For so long they count.
const WINDOWS_LAST: Duration = Duration::from_secs(120);

/// A ceiling is ahead by this many blocks at least, once a second take has shown that there is demand.
const BLOCKS_MIN: u64 = 4;

/// How many ids should be left under a ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Room {
    /// What a raise goes for.
    pub(crate) full: u64,
    /// A raise is due where fewer are left.
    pub(crate) least: u64,
}

/// How fast one counter advances, whoever takes.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    takes: u64,
    block: u64,
    /// When the latest window began.
    since: Option<Instant>,
    /// How far the counter came in the latest window, and in those before it.
    windows: [u64; WINDOWS],
}

impl Rate {
    /// Notes a take of `count` ids, at which the counter had come `advance` further than was known.
    pub(crate) fn took(&mut self, count: u64, advance: u64, now: Instant) {
        self.takes += 1;
        self.block = count;
        self.advanced(advance.max(count), now);
    }

    /// Others have taken so many.
    pub(crate) fn advanced(&mut self, ids: u64, now: Instant) {
        let since = *self.since.get_or_insert(now);
        let passed = now.saturating_duration_since(since).as_millis() / WINDOW.as_millis();
        if passed > 0 {
            let passed = usize::try_from(passed).unwrap_or(WINDOWS).min(WINDOWS);
            self.windows.rotate_right(passed);
            self.windows[..passed].fill(0);
            self.since = Some(now);
        }
        self.windows[0] = self.windows[0].saturating_add(ids);
    }

    /// The size of the latest block, at least 1.
    pub(crate) fn block(&self) -> u64 {
        self.block.max(1)
    }

    /// Ids a window, by the busiest of the last two minutes.
    fn busiest(&self) -> u64 {
        self.windows.iter().copied().max().unwrap_or(0)
    }

    /// Ids a second, by the busiest window of the last two minutes; 0 where nothing was taken in that time, and before a second take.
    pub(crate) fn rate(&self, now: Instant) -> f64 {
        let is_over = |since: Instant| now.saturating_duration_since(since) >= WINDOWS_LAST;
        #[allow(clippy::cast_precision_loss, reason = "a rate is a double")]
        let rate = self.busiest() as f64 / WINDOW.as_secs_f64();
        if self.takes < 2 || self.since.is_none_or(is_over) { 0.0 } else { rate }
    }

    /// How many ids should be left under the ceiling, so that numbers go on for `outage` without the ledger.
    ///
    /// A raise is due below 80 % of `outage` at *twice* the rate: the rate may double at the very moment when the ledger goes away,
    /// since one partition may take half of the shards, too. It comes `margin` earlier, which is how long a raise may
    /// take. Nothing is ahead before a second take, so that a process that takes once wastes nothing, and none for an outage of no time.
    pub(crate) fn wanted_room(&self, outage: Duration, margin: Duration) -> Room {
        if self.takes < 2 || outage.is_zero() {
            return Room::default();
        }
        let blocks = self.block().saturating_mul(BLOCKS_MIN);
        let (full, least) = (outage * 2 + margin * 2, outage * 8 / 5 + margin);
        Room { full: self.lasting(full).max(blocks), least: self.lasting(least).max(blocks / 2) }
    }

    /// So many ids last for `time`.
    fn lasting(&self, time: Duration) -> u64 {
        let ids = u128::from(self.busiest()).saturating_mul(time.as_millis()).div_ceil(WINDOW.as_millis());
        u64::try_from(ids).unwrap_or(u64::MAX)
    }
}

impl Room {
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

    fn wanted_room(pace: &Rate, seconds: u32) -> (u64, u64) {
        let Room { full, least } = pace.wanted_room(SECOND * seconds, Duration::ZERO);
        (full, least)
    }

    #[test]
    fn a_process_that_takes_once_is_not_ahead() {
        let (mut pace, now) = (Rate::default(), Instant::now());
        pace.took(5, 0, now);
        assert_eq!(wanted_room(&pace, 600), (0, 0));
        pace.took(5, 0, now);
        assert_eq!(
            wanted_room(&pace, 600),
            (1200, 960),
            "ten ids in a window of ten seconds, and twice as many"
        );
        assert_eq!(wanted_room(&pace, 0), (0, 0));
    }

    #[test]
    fn at_twice_the_rate_four_fifths_of_the_outage_are_left_when_a_raise_is_due() {
        let (mut pace, now) = (Rate::default(), Instant::now());
        for second in 0..600 {
            pace.took(100, 0, now + SECOND * second);
        }
        let Room { full, least } = pace.wanted_room(SECOND * 600, SECOND * 3);
        assert!(least >= 200 * 480 + 100 * 3, "{least}");
        assert_eq!(full, 100 * (1200 + 6));
    }

    #[test]
    fn a_bounded_ceiling_is_raised_when_a_fifth_of_what_it_may_hold_is_gone() {
        let wanted = Room { full: 1000, least: 800 };
        assert_eq!(wanted.at_most(1000), wanted);
        assert_eq!(wanted.at_most(100), Room { full: 100, least: 80 });
        assert_eq!(wanted.at_most(1), Room { full: 1, least: 1 });
    }

    #[test]
    fn no_amount_overflows() {
        let (mut pace, now) = (Rate::default(), Instant::now());
        pace.took(u64::MAX, 0, now);
        pace.took(u64::MAX, 0, now);
        assert_eq!(wanted_room(&pace, 86_400), (u64::MAX, u64::MAX));
    }

    #[test]
    fn the_busiest_ten_seconds_of_two_minutes_count() {
        let (mut pace, now) = (Rate::default(), Instant::now());
        let at = |tens: u32| now + SECOND * 10 * tens;
        pace.took(1000, 0, now);
        pace.took(500, 0, at(1));
        for tens in 2..=11 {
            pace.took(10, 0, at(tens));
            assert!((pace.rate(at(tens)) - 100.0).abs() < 1e-9, "{tens}: {pace:?}");
        }
        pace.took(10, 0, at(12));
        assert!((pace.rate(at(12)) - 50.0).abs() < 1e-9, "the next busiest: {pace:?}");
        pace.took(10, 0, at(13));
        assert!((pace.rate(at(13)) - 1.0).abs() < 1e-9, "{pace:?}");
        assert!(pace.rate(at(13) + WINDOWS_LAST) < 1e-9, "idle");
    }

    #[test]
    fn what_others_take_counts() {
        let (mut pace, now) = (Rate::default(), Instant::now());
        pace.took(10, 0, now);
        pace.took(10, 70, now);
        pace.advanced(20, now);
        assert!((pace.rate(now) - 10.0).abs() < 1e-9, "{pace:?}");
    }
}
