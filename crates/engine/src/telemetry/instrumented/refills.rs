//! Metrics of refills: the takes of the source under a reservoir.

use std::sync::Arc;

use metrics::{Counter, Histogram};
use sequent_core::{Blocks, Clock, SourceError};

use crate::telemetry::{
    metric_labels::{FAILED, OK},
    metric_table::{REFILL_SECONDS, REFILLS},
};

/// Metrics of refills: how many, and how long they take. One for all keys of an engine.
pub(crate) struct Refills {
    given: Counter,
    failed: Counter,
    seconds: Histogram,
    clock: Arc<dyn Clock>,
}

impl Refills {
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Arc<Self> {
        let counter = |outcome: &'static str| {
            let counter = metrics::counter!(REFILLS, "outcome" => outcome);
            counter.increment(0);
            counter
        };
        Arc::new(Self {
            given: counter(OK),
            failed: counter(FAILED),
            seconds: metrics::histogram!(REFILL_SECONDS),
            clock: Arc::clone(clock),
        })
    }

    /// Counts a refill by its outcome.
    pub(crate) async fn counted(
        &self,
        take: impl Future<Output = Result<Blocks, SourceError>>,
    ) -> Result<Blocks, SourceError> {
        let begun = self.clock.now();
        let outcome = take.await;
        match &outcome {
            Ok(_) => {
                self.given.increment(1);
                self.seconds.record(self.clock.now().saturating_duration_since(begun).as_secs_f64());
            }
            Err(_) => self.failed.increment(1),
        }
        outcome
    }
}
