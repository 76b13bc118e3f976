//! Retries within a deadline: retryable errors are retried with growing pauses while there is time.

use std::time::{Duration, Instant};

use sequent_core::{Clock, Entropy};
use tokio::time::sleep;

use crate::error::{Error, ErrorKind};

/// The first pause between two attempts. It doubles …
const PAUSE_MIN: Duration = Duration::from_millis(20);

/// … up to this.
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// Deadline of one call, with the pause before its next attempt.
pub(crate) struct RetryDeadline<'a> {
    clock: &'a dyn Clock,
    entropy: &'a dyn Entropy,
    end: Option<Instant>,
    pause: Duration,
    cause: Option<Error>,
}

impl<'a> RetryDeadline<'a> {
    /// Starts now and lasts for `within`. If that exceeds the clock's range, there is no deadline.
    pub(crate) fn new(clock: &'a dyn Clock, entropy: &'a dyn Entropy, within: Duration) -> Self {
        let end = clock.now().checked_add(within);
        Self { clock, entropy, end, pause: PAUSE_MIN, cause: None }
    }

    /// The deadline.
    pub(crate) fn end(&self) -> Option<Instant> {
        self.end
    }

    /// The time left.
    pub(crate) fn remaining(&self) -> Duration {
        let now = self.clock.now();
        self.end.map_or(Duration::MAX, |end| end.saturating_duration_since(now))
    }

    /// Pauses before the next attempt, or returns the error for the caller: one that is not retryable, or the cause
    /// that lasted until the deadline.
    pub(crate) async fn pause_or_fail(&mut self, error: Error) -> Result<(), Error> {
        let left = self.remaining();
        let late = error.kind() == ErrorKind::DeadlineExceeded && left.is_zero();
        if late {
            return Err(self.cause.take().unwrap_or(error));
        }
        let pause = self.pause.mul_f64(0.5 + self.entropy.fraction() / 2.0);
        // Before a quota has recovered, an attempt would be refused again.
        let asked = error.retry_after().filter(|_| error.kind() == ErrorKind::QuotaExceeded);
        let pause = asked.map_or(pause, |asked| pause.max(asked));
        if !error.is_retryable() || left <= pause {
            return Err(error);
        }
        self.cause = Some(error);
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        sleep(pause).await;
        Ok(())
    }
}
