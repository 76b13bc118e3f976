//! Metrics of requests that find too few numbers ready.

use std::{pin::pin, sync::Arc, task::Poll, time::Instant};

use metrics::{Counter, Histogram};
use sequent_core::Clock;

use crate::telemetry::metric_table::{WAIT_SECONDS, WAITS};

/// Metrics of requests that wait for shards: how many, and how long. One for all keys of an engine.
pub(crate) struct Waits {
    begun: Counter,
    seconds: Histogram,
    clock: Arc<dyn Clock>,
}

impl Waits {
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Self {
        let begun = metrics::counter!(WAITS);
        begun.increment(0);
        Self { begun, seconds: metrics::histogram!(WAIT_SECONDS), clock: Arc::clone(clock) }
    }

    /// The result of `taken`, and whether it had to wait. If it was ready, nothing is counted and no clock is read.
    pub(crate) async fn of<T>(&self, taken: impl Future<Output = T>) -> (T, bool) {
        let mut taken = pin!(taken);
        let mut wait = None;
        let outcome = std::future::poll_fn(|context| {
            let polled = taken.as_mut().poll(context);
            if polled.is_pending() && wait.is_none() {
                self.begun.increment(1);
                wait = Some(Wait { waits: self, since: self.clock.now() });
            }
            match polled {
                Poll::Ready(outcome) => Poll::Ready(outcome),
                Poll::Pending => Poll::Pending,
            }
        })
        .await;
        (outcome, wait.is_some())
    }
}

/// A wait in progress, until it ends or is dropped.
struct Wait<'a> {
    waits: &'a Waits,
    since: Instant,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let waited = self.waits.clock.now().saturating_duration_since(self.since);
        self.waits.seconds.record(waited.as_secs_f64());
    }
}
