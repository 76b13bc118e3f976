//! The numbers that a key may give at once. Pure: every method gets the time.

use std::time::{Duration, Instant};

/// Longest wait that a caller is told: a day. A key that is nearly used up would have it wait for years.
const WAIT_MAX_S: f64 = 86_400.0;

/// How fast a bucket fills, and how much it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pace {
    /// Numbers a second.
    pub(crate) per_s: f64,
    /// Upper limit of the level.
    pub(crate) burst: f64,
}

/// A level that rises with time up to the burst, and falls with what is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucket {
    /// Below zero if more was given than asked for: refills come in whole raw ids.
    level: f64,
    at: Instant,
}

impl Bucket {
    pub(crate) fn full(pace: Pace, now: Instant) -> Self {
        Self { level: pace.burst, at: now }
    }

    /// The level after the time that has passed.
    pub(crate) fn fill(&mut self, pace: Pace, now: Instant) -> f64 {
        let passed_s = now.saturating_duration_since(self.at).as_secs_f64();
        self.level = pace.per_s.mul_add(passed_s, self.level).min(pace.burst);
        self.at = now.max(self.at);
        self.level
    }

    pub(crate) fn add(&mut self, count: f64) {
        self.level += count;
    }

    /// How long until the level is at `level`.
    pub(crate) fn wait(&self, level: f64, pace: Pace) -> Duration {
        let missing = (level - self.level).max(0.0);
        let wait_s = if missing > 0.0 { missing / pace.per_s } else { 0.0 };
        Duration::from_secs_f64(if wait_s < WAIT_MAX_S { wait_s } else { WAIT_MAX_S })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Clock, SystemClock};

    #[test]
    fn a_bucket_fills_to_its_burst_and_says_how_long_it_needs() {
        let (pace, begun) = (Pace { per_s: 2.0, burst: 10.0 }, SystemClock.now());
        let after = |seconds: u64| begun + Duration::from_secs(seconds);
        let mut bucket = Bucket::full(pace, begun);
        bucket.add(-12.0);
        assert_eq!(bucket.wait(1.0, pace), Duration::from_millis(1500));
        assert!((bucket.fill(pace, after(3)) - 4.0).abs() < 1e-9);
        assert!((bucket.fill(pace, begun) - 4.0).abs() < 1e-9, "an earlier time takes nothing away");
        assert_eq!(bucket.wait(4.0, pace), Duration::ZERO);
        assert!((bucket.fill(pace, after(99)) - 10.0).abs() < 1e-9);
        let still = Pace { per_s: 0.0, ..pace };
        assert_eq!(bucket.wait(11.0, still), Duration::from_secs(86_400));
    }
}
