//! The source under a reservoir, whose takes are refills.

use std::sync::Arc;

use metrics::{Counter, Histogram};
use sequent_core::{Blocks, BoxFuture, Clock, Source, SourceError};

use crate::telemetry::names::{FAILED, OK, REFILL_SECONDS, REFILLS};

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
}

/// A source whose takes are counted as refills.
pub(crate) struct MeteredSource {
    source: Arc<dyn Source>,
    refills: Arc<Refills>,
}

impl MeteredSource {
    pub(crate) fn of(source: Arc<dyn Source>, refills: &Arc<Refills>) -> Arc<dyn Source> {
        Arc::new(Self { source, refills: Arc::clone(refills) })
    }
}

#[deny(clippy::missing_trait_methods)]
impl Source for MeteredSource {
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        Box::pin(async move {
            let refills = &*self.refills;
            let begun = refills.clock.now();
            let outcome = self.source.take(want).await;
            match &outcome {
                Ok(_) => {
                    refills.given.increment(1);
                    let took = refills.clock.now().saturating_duration_since(begun);
                    refills.seconds.record(took.as_secs_f64());
                }
                Err(_) => refills.failed.increment(1),
            }
            outcome
        })
    }

    fn lift(&self, floor: u64) -> BoxFuture<'_, Result<(), SourceError>> {
        self.source.lift(floor)
    }

    fn position(&self) -> Option<u64> {
        self.source.position()
    }

    fn remaining(&self) -> Option<u64> {
        self.source.remaining()
    }

    fn remaining_up_to(&self, limit: u64) -> Option<u64> {
        self.source.remaining_up_to(limit)
    }
}
