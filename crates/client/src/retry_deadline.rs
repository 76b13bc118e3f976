//! How long a caller goes on: failures that may pass are tried again while there is time.

use std::time::{Duration, Instant};

use sequent_core::{Clock, Entropy};
use tokio::time::sleep;

use crate::error::{Error, ErrorKind};

/// The first pause between two tries; it doubles …
const PAUSE_MIN: Duration = Duration::from_millis(20);

/// … up to this.
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// One caller's time.
pub(crate) struct RetryDeadline<'a> {
    clock: &'a dyn Clock,
    entropy: &'a dyn Entropy,
    end: Option<Instant>,
    pause: Duration,
    cause: Option<Error>,
}

impl<'a> RetryDeadline<'a> {
    /// From now on, for `within`; for ever, where that is beyond any clock.
    pub(crate) fn new(clock: &'a dyn Clock, entropy: &'a dyn Entropy, within: Duration) -> Self {
        let end = clock.now().checked_add(within);
        Self { clock, entropy, end, pause: PAUSE_MIN, cause: None }
    }

    /// When it ends.
    pub(crate) fn end(&self) -> Option<Instant> {
        self.end
    }

    /// How much of it is left.
    pub(crate) fn remaining(&self) -> Duration {
        let now = self.clock.now();
        self.end.map_or(Duration::MAX, |end| end.saturating_duration_since(now))
    }

    /// Pauses before another try. Or the error for the caller: what can't pass, or the cause that lasted until the end.
    pub(crate) async fn pause_or_fail(&mut self, error: Error) -> Result<(), Error> {
        let left = self.remaining();
        let late = error.kind() == ErrorKind::DeadlineExceeded && left.is_zero();
        if late {
            return Err(self.cause.take().unwrap_or(error));
        }
        let pause = self.pause.mul_f64(0.5 + self.entropy.fraction() / 2.0);
        if !error.is_retryable() || left <= pause {
            return Err(error);
        }
        self.cause = Some(error);
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        sleep(pause).await;
        Ok(())
    }
}
