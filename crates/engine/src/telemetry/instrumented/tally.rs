//! Outcomes and durations of one kind of call.

use std::{sync::Arc, time::Instant};

use metrics::{Counter, Histogram};
use sequent_core::{Clock, ErrorKind, SourceError};

use crate::telemetry::metric_labels::{OK, OTHER};

/// Metrics of one kind of call, registered once. All series exist from the start.
pub(crate) struct Tally {
    ok: Counter,
    failed: Vec<(ErrorKind, Counter)>,
    other: Counter,
    seconds: Histogram,
    clock: Arc<dyn Clock>,
}

impl Tally {
    /// A tally with a series for each of `kinds`, made by `counter` from the outcome's name.
    pub(crate) fn new(
        clock: &Arc<dyn Clock>,
        kinds: &[ErrorKind],
        counter: impl Fn(&'static str) -> Counter,
        seconds: Histogram,
    ) -> Self {
        let begun = |outcome| {
            let counter = counter(outcome);
            counter.increment(0);
            counter
        };
        let failed = kinds.iter().map(|kind| (*kind, begun(kind.as_str()))).collect();
        Self { ok: begun(OK), failed, other: begun(OTHER), seconds, clock: Arc::clone(clock) }
    }

    /// Waits for `work`, and counts its outcome. If dropped before that, it counts as a timeout.
    pub(crate) async fn of<T>(
        &self,
        work: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        let mut ask = Ask { tally: self, begun: self.clock.now(), is_open: true };
        let outcome = work.await;
        ask.is_open = false;
        self.ended(ask.begun, outcome.as_ref().err().map(SourceError::kind));
        outcome
    }

    fn ended(&self, begun: Instant, failure: Option<ErrorKind>) {
        let Some(failure) = failure else {
            self.ok.increment(1);
            self.seconds.record(self.clock.now().saturating_duration_since(begun).as_secs_f64());
            return;
        };
        let known = self.failed.iter().find(|(kind, _)| *kind == failure);
        known.map_or(&self.other, |(_, counter)| counter).increment(1);
    }
}

/// A call in progress.
struct Ask<'a> {
    tally: &'a Tally,
    begun: Instant,
    is_open: bool,
}

impl Drop for Ask<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.tally.ended(self.begun, Some(ErrorKind::Timeout));
        }
    }
}
