//! Exponential backoff: how long a member stays out before it is probed.

use std::time::Duration;

/// Waits that double up to a cap, with jitter over the whole range. They shrink again while the member is healthy.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    min: Duration,
    max: Duration,
    level: u32,
}

impl Backoff {
    pub(crate) fn new(min: Duration, max: Duration) -> Self {
        Self { min, max: max.max(min), level: 0 }
    }

    /// The next wait. The first is exactly `min`; later ones lie anywhere between `min` and their bound.
    ///
    /// So servers that lost a store at the same time do not probe it at the same time.
    pub(crate) fn next(&mut self, fraction: f64) -> Duration {
        let bound = self.bound();
        if bound < self.max {
            self.level += 1;
        }
        self.min + bound.saturating_sub(self.min).mul_f64(fraction.clamp(0.0, 1.0))
    }

    /// Takes back one doubling for each healthy period as long as the current bound.
    pub(crate) fn reduce(&mut self, mut healthy: Duration) {
        while self.level > 0 && healthy >= self.bound() {
            healthy -= self.bound();
            self.level -= 1;
        }
    }

    fn bound(&self) -> Duration {
        let factor = 1_u32.checked_shl(self.level).unwrap_or(u32::MAX);
        self.min.saturating_mul(factor).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn backoff() -> Backoff {
        Backoff::new(Duration::from_millis(500), 300 * S)
    }

    #[test]
    fn doubles_up_to_the_cap() {
        let mut backoff = backoff();
        let waits: Vec<u128> = (0..13).map(|_| backoff.next(1.0).as_millis()).collect();
        assert_eq!(waits[..5], [500, 1000, 2000, 4000, 8000]);
        assert_eq!(waits[9..], [256_000, 300_000, 300_000, 300_000]);
    }

    #[test]
    fn jitter_covers_the_range_down_to_the_minimum() {
        for (fraction, expected) in [(0.0, 500), (0.25, 625), (1.0, 1000)] {
            let mut backoff = backoff();
            assert_eq!(backoff.next(fraction).as_millis(), 500, "the first wait has no jitter");
            assert_eq!(backoff.next(fraction).as_millis(), expected);
        }
    }

    #[test]
    fn takes_back_one_doubling_for_each_healthy_period() {
        let mut backoff = backoff();
        for _ in 0..4 {
            backoff.next(1.0);
        }
        backoff.reduce(7 * S);
        assert_eq!(backoff.clone().next(1.0), 8 * S, "less than the bound of 8 s takes back nothing");
        backoff.reduce(8 * S);
        assert_eq!(backoff.clone().next(1.0), 4 * S);
        backoff.reduce(100 * S);
        assert_eq!(backoff.next(1.0).as_millis(), 500, "long health takes back all");
    }

    #[test]
    fn a_cap_below_the_minimum_is_the_minimum() {
        assert_eq!(Backoff::new(S, Duration::ZERO).next(1.0), S);
        assert_eq!(Backoff::new(Duration::ZERO, Duration::ZERO).next(1.0), Duration::ZERO);
    }
}
