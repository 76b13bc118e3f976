//! Rate at which a counter is consumed, and the ceiling's distance that follows from it. Pure: takes `now`.

use std::time::{Duration, Instant};

/// The window in which consumption is measured.
const WINDOW: Duration = Duration::from_secs(10);

/// The number of windows that count: two minutes.
const WINDOWS: usize = 12;

/// The time that the windows cover.
const WINDOWS_LAST: Duration = Duration::from_secs(120);

/// The least number of blocks that a ceiling is ahead, once a second take has shown demand.
const BLOCKS_MIN: u64 = 4;

/// Ids that others took in a window count up to so many times the busiest earlier window, the ids taken here, or a block. Another
/// server may have lifted the store's counter by any distance, which nobody consumed.
const GROWTH_MAX: u64 = 16;

/// Distances between the ids taken and a ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Room {
    /// The distance that a raise asks for.
    pub(crate) full: u64,
    /// The distance below which a raise is due.
    pub(crate) least: u64,
}

/// The rate of one counter, over all servers.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    takes: u64,
    block: u64,
    /// The start of the latest window.
    since: Option<Instant>,
    /// The ids taken in the latest window, and in those before it.
    windows: [u64; WINDOWS],
    /// The ids that this process took in the latest window.
    own: u64,
}

impl Rate {
    /// Notes a take of `count` ids. The counter had advanced by `advance` since it was last known.
    pub(crate) fn took(&mut self, count: u64, advance: u64, now: Instant) {
        self.takes += 1;
        self.block = count;
        self.begin_window(now);
        self.own = self.own.saturating_add(count);
        self.windows[0] = self.windows[0].saturating_add(count);
        self.advanced(advance.saturating_sub(count), now);
    }

    /// Notes ids that other servers took.
    pub(crate) fn advanced(&mut self, ids: u64, now: Instant) {
        self.begin_window(now);
        let earlier = self.windows[1..].iter().copied().max().unwrap_or(0);
        let most = earlier.max(self.own).max(self.block()).saturating_mul(GROWTH_MAX);
        let latest = self.windows[0];
        self.windows[0] = latest.saturating_add(ids).min(most).max(latest);
    }

    fn begin_window(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        let passed = now.saturating_duration_since(since).as_millis() / WINDOW.as_millis();
        if passed > 0 {
            let passed = usize::try_from(passed).unwrap_or(WINDOWS).min(WINDOWS);
            self.windows.rotate_right(passed);
            self.windows[..passed].fill(0);
            (self.since, self.own) = (Some(now), 0);
        }
    }

    /// The size of the latest block, at least 1.
    pub(crate) fn block(&self) -> u64 {
        self.block.max(1)
    }

    /// The ids of the busiest window in the last two minutes.
    fn busiest(&self) -> u64 {
        self.windows.iter().copied().max().unwrap_or(0)
    }

    /// Ids per second in the busiest window of the last two minutes. 0 before a second take, and if nothing was taken in that
    /// time.
    pub(crate) fn rate(&self, now: Instant) -> f64 {
        let is_over = |since: Instant| now.saturating_duration_since(since) >= WINDOWS_LAST;
        #[allow(clippy::cast_precision_loss, reason = "a rate is a double")]
        let rate = self.busiest() as f64 / WINDOW.as_secs_f64();
        if self.takes < 2 || self.since.is_none_or(is_over) { 0.0 } else { rate }
    }

    /// The ids that should be left under the ceiling, so that numbers last for `outage` without the ledger.
    ///
    /// A raise is due below 80 % of `outage` at *twice* the rate: the rate may double when the ledger goes away, since the same
    /// partition may take half of the shards. The raise is due `margin` earlier, the time that it may take.
    ///
    /// The result is 0 before a second take, so that a single take wastes nothing, and for an outage of zero.
    pub(crate) fn wanted_room(&self, outage: Duration, margin: Duration) -> Room {
        if self.takes < 2 || outage.is_zero() {
            return Room::default();
        }
        let blocks = self.block().saturating_mul(BLOCKS_MIN);
        let (full, least) = (outage * 2 + margin * 2, outage * 8 / 5 + margin);
        Room { full: self.lasting(full).max(blocks), least: self.lasting(least).max(blocks / 2) }
    }

    /// The number of ids that last for `time`.
    fn lasting(&self, time: Duration) -> u64 {
        let ids = u128::from(self.busiest()).saturating_mul(time.as_millis()).div_ceil(WINDOW.as_millis());
        u64::try_from(ids).unwrap_or(u64::MAX)
    }
}

impl Room {
    /// The distances, for a ceiling that may be ahead by at most `most` ids.
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
    fn a_counter_that_another_server_has_lifted_is_not_consumed() {
        let (mut pace, now) = (Rate::default(), Instant::now());
        for second in 0..30 {
            pace.took(20, 0, now + SECOND * second);
        }
        let before = wanted_room(&pace, 600).0;
        let lifted = now + SECOND * 30;
        pace.advanced(38_000_000, lifted);
        pace.took(20, 38_000_000, lifted + SECOND);
        assert!(wanted_room(&pace, 600).0 <= before * (GROWTH_MAX + 1), "{pace:?}");
    }

    #[test]
    fn others_who_take_much_more_count_after_some_windows() {
        let (mut pace, now) = (Rate::default(), Instant::now());
        for second in 0..60 {
            pace.took(1, 0, now + SECOND * second);
            pace.advanced(100_000, now + SECOND * second);
        }
        assert!(pace.rate(now + SECOND * 60) > 100_000.0, "{pace:?}");
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
