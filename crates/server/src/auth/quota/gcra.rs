//! A quota by the generic cell rate algorithm, in atomic integers.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Parts of a nanosecond in which time is counted. A cost is rounded up to one part, so that a quota is never exceeded;
/// it is more than 500 parts at the highest limit. The time of a process lasts nine years.
const PARTS: u128 = 64;

/// A limit within a period. As much is allowed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) limit: u64,
    pub(super) period: Duration,
}

/// What is used of a rate.
#[derive(Debug, Default)]
pub(super) struct Gcra {
    /// When all that is used will have come back, in parts since the origin.
    full_at: AtomicU64,
    /// All that was given back so far, in parts. It wraps around.
    given_back: AtomicU64,
}

/// What one take must know when some of it is given back.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Taken {
    /// When all that was used after it comes back.
    full_at: u64,
    /// What had been given back before it.
    given_back: u64,
}

impl Rate {
    /// The time in which so many come back.
    fn cost(self, count: u64) -> u64 {
        let cost =
            (u128::from(count) * self.period.as_nanos() * PARTS).div_ceil(u128::from(self.limit.max(1)));
        u64::try_from(cost).unwrap_or(u64::MAX)
    }

    /// The time in which the limit comes back: the period, and what rounding adds to it.
    fn burst(self) -> u64 {
        self.cost(1).saturating_mul(self.limit)
    }
}

impl Gcra {
    /// Takes `count` at an instant since the origin. The error is the time until it would succeed; then nothing was
    /// taken.
    pub(super) fn take(&self, rate: Rate, count: u64, now: Duration) -> Result<Taken, Duration> {
        let (now, cost) = (parts(now), rate.cost(count));
        let most = now.saturating_add(rate.burst());
        let after = |held: u64| held.max(now).saturating_add(cost);
        let next = |held: u64| Some(after(held)).filter(|after| *after <= most);
        // Read first: what is given back in between makes `give_back` give less, and never more.
        let given_back = self.given_back.load(Ordering::Relaxed);
        match self.full_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(held) => Ok(Taken { full_at: after(held), given_back }),
            Err(held) => {
                let over = after(held) - most;
                Err(Duration::from_nanos(u64::try_from(u128::from(over).div_ceil(PARTS)).unwrap_or(u64::MAX)))
            }
        }
    }

    /// Gives back `unused` of what was taken as `count` at once, except for what has come back by itself meanwhile: the
    /// same part would be credited twice.
    pub(super) fn give_back(&self, rate: Rate, (count, unused): (u64, u64), taken: Taken, now: Duration) {
        // Costs are rounded: what is left is what would have been taken for the rest.
        let cost = rate.cost(count) - rate.cost(count.saturating_sub(unused));
        let others = self.given_back.load(Ordering::Relaxed).wrapping_sub(taken.given_back);
        let still_used = taken.full_at.saturating_sub(others).saturating_sub(parts(now));
        let credit = cost.min(still_used);
        self.given_back.fetch_add(credit, Ordering::Relaxed);
        self.full_at.fetch_sub(credit, Ordering::Relaxed);
    }

    /// The same count of another rate: a limit that is raised gives way at once.
    pub(super) fn converted(&self, from: Rate, to: Rate, now: Duration) -> Self {
        let now = parts(now);
        let count = self.full_at.load(Ordering::Relaxed).saturating_sub(now).div_ceil(from.cost(1).max(1));
        let full_at = AtomicU64::new(now.saturating_add(count.saturating_mul(to.cost(1))));
        Self { full_at, given_back: AtomicU64::default() }
    }

    /// The part that is used at an instant, 0 to 1.
    #[allow(clippy::cast_precision_loss, reason = "a gauge is a double")]
    pub(super) fn used(&self, rate: Rate, now: Duration) -> f64 {
        let held = self.full_at.load(Ordering::Relaxed).saturating_sub(parts(now));
        held as f64 / rate.burst().max(1) as f64
    }
}

fn parts(time: Duration) -> u64 {
    u64::try_from(time.as_nanos() * PARTS).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn as_much_as_the_limit_at_once_and_then_one_each_time_that_one_came_back() {
        for limit in [1, 3, 7, 500, 1000] {
            let (gcra, rate) = (Gcra::default(), Rate { limit, period: SECOND });
            let origin = Duration::from_secs(5);
            assert!((0..limit).all(|_| gcra.take(rate, 1, origin).is_ok()), "{limit}");
            let wait = gcra.take(rate, 1, origin).unwrap_err();
            let before = (origin + wait).saturating_sub(Duration::from_nanos(2));
            assert!(gcra.take(rate, 1, before).is_err(), "{limit}: not before");
            assert!(gcra.take(rate, 1, origin + wait).is_ok(), "{limit}: exactly then");
            assert!(gcra.take(rate, 1, origin + wait).is_err(), "{limit}: and one alone");
        }
    }

    #[test]
    fn over_a_long_time_no_more_than_the_limit_is_given() {
        let (gcra, rate) = (Gcra::default(), Rate { limit: 1000, period: SECOND });
        let mut given = 0;
        for ms in 0..10_000 {
            given += (0..5).filter(|_| gcra.take(rate, 1, Duration::from_millis(ms)).is_ok()).count();
        }
        // The limit at once, and one a millisecond for the 9,999 that follow.
        assert_eq!(given, 1000 + 9999);
    }

    #[test]
    fn a_refused_take_costs_nothing_and_what_is_given_back_can_be_taken() {
        let (gcra, rate) = (Gcra::default(), Rate { limit: 300_000_000, period: 3 * SECOND });
        let now = SECOND;
        let taken = gcra.take(rate, 299_999_999, now).unwrap();
        assert!(gcra.take(rate, 2, now).is_err());
        gcra.take(rate, 1, now).unwrap();
        gcra.give_back(rate, (299_999_999, 299_999_998), taken, now);
        gcra.take(rate, 299_999_997, now).unwrap();
        assert!(gcra.take(rate, 2, now).is_err());
    }

    /// How many can be taken at an instant, one by one.
    fn left(gcra: &Gcra, rate: Rate, now: Duration) -> usize {
        (0..1000).filter(|_| gcra.take(rate, 1, now).is_ok()).count()
    }

    #[test]
    fn what_has_come_back_by_itself_is_not_given_back_once_more() {
        let rate = Rate { limit: 100, period: SECOND };
        let at = |ms| SECOND + Duration::from_millis(ms);
        for (late_ms, expected) in [(0, 100), (500, 50), (1000, 0), (5000, 0)] {
            let gcra = Gcra::default();
            let taken = gcra.take(rate, 100, at(0)).unwrap();
            // What came back is used at once; the rest is the refund alone.
            left(&gcra, rate, at(late_ms));
            gcra.give_back(rate, (100, 100), taken, at(late_ms));
            assert_eq!(left(&gcra, rate, at(late_ms)), expected, "{late_ms}");
        }
    }

    #[test]
    fn two_that_are_given_back_yield_no_more_than_was_used() {
        let rate = Rate { limit: 100, period: SECOND };
        let at = |ms| SECOND + Duration::from_millis(ms);
        let gcra = Gcra::default();
        let [first, second] = [0; 2].map(|_| gcra.take(rate, 50, at(0)).unwrap());
        gcra.give_back(rate, (50, 50), first, at(0));
        // By now the second has come back by itself, since nothing was used but it.
        gcra.take(rate, 50, at(750)).unwrap();
        gcra.give_back(rate, (50, 50), second, at(750));
        assert_eq!(left(&gcra, rate, at(750)), 50);
    }

    #[test]
    fn whoever_waits_behind_others_gets_all_of_it_back() {
        let rate = Rate { limit: 100, period: SECOND };
        let at = |ms| SECOND + Duration::from_millis(ms);
        let gcra = Gcra::default();
        gcra.take(rate, 50, at(0)).unwrap();
        let taken = gcra.take(rate, 50, at(0)).unwrap();
        gcra.give_back(rate, (50, 50), taken, at(250));
        assert_eq!(left(&gcra, rate, at(250)), 75, "the others have half of theirs back");
    }

    #[test]
    fn a_limit_that_changes_keeps_the_count() {
        let (day, now) = (86_400 * SECOND, 7 * SECOND);
        let (gcra, ten) = (Gcra::default(), Rate { limit: 10, period: day });
        assert!((0..10).all(|_| gcra.take(ten, 1, now).is_ok()));
        let twenty = Rate { limit: 20, period: day };
        let raised = gcra.converted(ten, twenty, now);
        assert_eq!((0..30).filter(|_| raised.take(twenty, 1, now).is_ok()).count(), 10);
        let lowered = raised.converted(twenty, ten, now);
        assert!(lowered.take(ten, 1, now).is_err());
    }

    #[test]
    fn what_is_used_comes_back_evenly() {
        let (gcra, rate) = (Gcra::default(), Rate { limit: 100, period: SECOND });
        gcra.take(rate, 100, SECOND).unwrap();
        let used = |ms| gcra.used(rate, SECOND + Duration::from_millis(ms));
        assert!((used(0) - 1.0).abs() < 1e-9 && (used(250) - 0.75).abs() < 1e-9 && used(1000) < 1e-9);
    }
}
