//! How long requests waited.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Two digits of each time are kept.
const DIGITS: u8 = 2;

/// The longest time that is told apart from longer ones: a minute.
const LONGEST_NS: u64 = 60_000_000_000;

/// Times by how often they were seen.
#[derive(Clone)]
pub(crate) struct Waits(Histogram<u64>);

impl Waits {
    pub(crate) fn new() -> Result<Self, String> {
        Histogram::new_with_max(LONGEST_NS, DIGITS).map(Self).map_err(|error| error.to_string())
    }

    pub(crate) fn note(&mut self, waited: Duration) {
        self.0.saturating_record(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX));
    }

    pub(crate) fn add(&mut self, other: &Self) -> Result<(), String> {
        self.0.add(&other.0).map_err(|error| error.to_string())
    }

    /// How long at most such a part of the requests waited, in milliseconds.
    #[allow(clippy::cast_precision_loss, reason = "times of a bench")]
    pub(crate) fn ms(&self, part: f64) -> f64 {
        self.0.value_at_quantile(part) as f64 / 1e6
    }
}
