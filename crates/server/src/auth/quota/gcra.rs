//! A quota by the generic cell rate algorithm, in one atomic integer.

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

/// What is used of a rate: when all of it will have come back, in parts since the origin.
#[derive(Debug, Default)]
pub(super) struct Gcra(AtomicU64);

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
    pub(super) fn take(&self, rate: Rate, count: u64, now: Duration) -> Result<(), Duration> {
        let (now, cost) = (parts(now), rate.cost(count));
        let most = now.saturating_add(rate.burst());
        let next = |held: u64| Some(held.max(now).saturating_add(cost)).filter(|after| *after <= most);
        match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(_) => Ok(()),
            Err(held) => {
                let over = held.max(now).saturating_add(cost) - most;
                Err(Duration::from_nanos(u64::try_from(u128::from(over).div_ceil(PARTS)).unwrap_or(u64::MAX)))
            }
        }
    }

    /// Gives back some of what was taken as `taken` at once.
    pub(super) fn give_back(&self, rate: Rate, taken: u64, unused: u64) {
        // Costs are rounded: what is left is what would have been taken for the rest.
        let cost = rate.cost(taken) - rate.cost(taken.saturating_sub(unused));
        self.0.fetch_sub(cost, Ordering::Relaxed);
    }

    /// The same count of another rate: a limit that is raised gives way at once.
    pub(super) fn converted(&self, from: Rate, to: Rate, now: Duration) -> Self {
        let now = parts(now);
        let count = self.0.load(Ordering::Relaxed).saturating_sub(now).div_ceil(from.cost(1).max(1));
        Self(AtomicU64::new(now.saturating_add(count.saturating_mul(to.cost(1)))))
    }

    /// The part that is used at an instant, 0 to 1.
    #[allow(clippy::cast_precision_loss, reason = "a gauge is a double")]
    pub(super) fn used(&self, rate: Rate, now: Duration) -> f64 {
        let held = self.0.load(Ordering::Relaxed).saturating_sub(parts(now));
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
        gcra.take(rate, 299_999_999, now).unwrap();
        assert!(gcra.take(rate, 2, now).is_err());
        gcra.take(rate, 1, now).unwrap();
        gcra.give_back(rate, 299_999_999, 299_999_998);
        gcra.take(rate, 299_999_997, now).unwrap();
        assert!(gcra.take(rate, 2, now).is_err());
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
