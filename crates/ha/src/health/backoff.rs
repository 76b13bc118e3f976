//! How long a member stays out before it is tried again.

use std::time::Duration;

/// Waits that double, jittered over the whole range, capped, and shrink again while the member is healthy.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    least: Duration,
    most: Duration,
    level: u32,
}

impl Backoff {
    pub(crate) fn new(least: Duration, most: Duration) -> Self {
        Self { least, most: most.max(least), level: 0 }
    }

    /// The next wait. The first is exactly the least; later ones lie anywhere between the least and their bound,
    /// so that servers that lost a store together do not come back together.
    pub(crate) fn next(&mut self, fraction: f64) -> Duration {
        let bound = self.bound();
        if bound < self.most {
            self.level += 1;
        }
        self.least + bound.saturating_sub(self.least).mul_f64(fraction.clamp(0.0, 1.0))
    }

    /// Each healthy stretch as long as the present bound takes one doubling back.
    pub(crate) fn heal(&mut self, mut healthy: Duration) {
        while self.level > 0 && healthy >= self.bound() {
            healthy -= self.bound();
            self.level -= 1;
        }
    }

    fn bound(&self) -> Duration {
        let factor = 1_u32.checked_shl(self.level).unwrap_or(u32::MAX);
        self.least.saturating_mul(factor).min(self.most)
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
    fn jitter_covers_the_whole_range_and_never_less_than_the_least() {
        for (fraction, expected) in [(0.0, 500), (0.25, 625), (1.0, 1000)] {
            let mut backoff = backoff();
            assert_eq!(backoff.next(fraction).as_millis(), 500, "the first wait has no jitter");
            assert_eq!(backoff.next(fraction).as_millis(), expected);
        }
    }

    #[test]
    fn heals_one_doubling_for_each_healthy_stretch() {
        let mut backoff = backoff();
        for _ in 0..4 {
            backoff.next(1.0);
        }
        backoff.heal(7 * S);
        assert_eq!(backoff.clone().next(1.0), 8 * S, "less than the bound of 8 s heals nothing");
        backoff.heal(8 * S);
        assert_eq!(backoff.clone().next(1.0), 4 * S);
        backoff.heal(100 * S);
        assert_eq!(backoff.next(1.0).as_millis(), 500, "long health heals all");
    }

    #[test]
    fn a_cap_below_the_least_is_the_least() {
        assert_eq!(Backoff::new(S, Duration::ZERO).next(1.0), S);
        assert_eq!(Backoff::new(Duration::ZERO, Duration::ZERO).next(1.0), Duration::ZERO);
    }
}
