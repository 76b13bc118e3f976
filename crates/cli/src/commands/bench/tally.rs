//! What requests cost and how they ended: each task counts for itself and hands over now and then.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use hdrhistogram::Histogram;

/// The longest latency told apart, in nanoseconds: above a minute is a minute.
const LATENCY_MAX_NS: u64 = 60_000_000_000;

/// Three digits: every percentile is right to a thousandth.
const LATENCY_DIGITS: u8 = 3;

/// The percentiles that are shown, with their names in JSON and in the table.
pub(crate) const PERCENTILES: [(f64, &str, &str); 6] = [
    (50.0, "p50", "p50"),
    (90.0, "p90", "p90"),
    (99.0, "p99", "p99"),
    (99.9, "p99_9", "p99.9"),
    (99.99, "p99_99", "p99.99"),
    (100.0, "max", "max"),
];

/// Counts of finished requests.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    /// Requests that ended, well or not.
    pub(crate) requests: u64,
    /// Numbers that came.
    pub(crate) numbers: u64,
    /// Failed requests by reason.
    pub(crate) errors: BTreeMap<&'static str, u64>,
    /// What one failed request said.
    pub(crate) error_example: Option<String>,
    /// From the intended start to the end, in nanoseconds; failed requests too.
    pub(crate) latency: Histogram<u64>,
}

impl Default for Tally {
    fn default() -> Self {
        #[allow(clippy::expect_used, reason = "constant bounds: low 1, high above 2, at most five digits")]
        let latency = Histogram::new_with_max(LATENCY_MAX_NS, LATENCY_DIGITS).expect("constant bounds");
        Self { requests: 0, numbers: 0, errors: BTreeMap::new(), error_example: None, latency }
    }
}

impl Tally {
    /// A request that gave `numbers` after `latency`.
    pub(crate) fn done(&mut self, numbers: u64, latency: Duration) {
        self.requests += 1;
        self.numbers += numbers;
        self.latency.saturating_record(nanoseconds(latency));
    }

    /// A request that failed after `latency`.
    pub(crate) fn failed(&mut self, reason: &'static str, text: impl FnOnce() -> String, latency: Duration) {
        self.requests += 1;
        *self.errors.entry(reason).or_default() += 1;
        self.error_example.get_or_insert_with(text);
        self.latency.saturating_record(nanoseconds(latency));
    }

    /// Failed requests, whatever the reason.
    pub(crate) fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    fn absorb(&mut self, other: &Self) {
        self.requests += other.requests;
        self.numbers += other.numbers;
        for (reason, count) in &other.errors {
            *self.errors.entry(reason).or_default() += count;
        }
        if self.error_example.is_none() {
            self.error_example.clone_from(&other.error_example);
        }
        // Equal bounds on both sides: it cannot fail.
        let _ = self.latency.add(&other.latency);
    }

    fn clear(&mut self) {
        self.requests = 0;
        self.numbers = 0;
        self.errors.clear();
        self.error_example = None;
        self.latency.reset();
    }
}

/// Everything so far, and what came since the last look.
#[derive(Default)]
pub(crate) struct Tallies(Mutex<(Tally, Tally)>);

impl Tallies {
    /// Takes over what a task has counted, and clears it.
    pub(crate) fn hand_over(&self, local: &mut Tally) {
        if local.requests == 0 {
            return;
        }
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        both.0.absorb(local);
        both.1.absorb(local);
        local.clear();
    }

    /// Everything so far.
    pub(crate) fn total(&self) -> Tally {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// What came since the last call, and everything so far.
    pub(crate) fn since_last(&self) -> (Tally, Tally) {
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut both.1), both.0.clone())
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(LATENCY_MAX_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_a_task_and_the_whole() {
        let tallies = Tallies::default();
        let mut local = Tally::default();
        local.done(10, Duration::from_micros(5));
        tallies.hand_over(&mut local);
        assert_eq!(tallies.since_last().0.requests, 1);
        local.failed("NO_SHARD_AVAILABLE", || "all gone".into(), Duration::from_hours(1));
        local.failed("NO_SHARD_AVAILABLE", || "still gone".into(), Duration::from_millis(1));
        tallies.hand_over(&mut local);
        let (window, all) = tallies.since_last();
        assert_eq!((window.requests, window.error_count(), all.requests), (2, 2, 3));
        let total = tallies.total();
        assert_eq!((total.requests, total.numbers, total.error_count(), total.latency.len()), (3, 10, 2, 3));
        assert_eq!(total.error_example.as_deref(), Some("all gone"));
        assert!(total.latency.max() >= LATENCY_MAX_NS, "an hour counts as the longest latency, not as none");
        assert_eq!(local.requests, 0);
    }
}
