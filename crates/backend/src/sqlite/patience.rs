//! Bounded waiting for other processes' locks.

use std::time::{Duration, Instant};

use super::{
    SqliteOptions,
    fault::{Cause, Fault},
};

/// How long a verb tries against other processes' locks. Sixteen processes on one file waited at most 0.125 s;
/// below an attempt's limit of 1 s, so that a locked file is said to be contended, which costs no connection.
const BUSY_WAIT_MAX: Duration = Duration::from_millis(800);

/// The longest pause between two tries; the real one is random up to this, so that nobody starves.
const BUSY_PAUSE_MAX: Duration = Duration::from_millis(1);

/// What is left of a verb's time against other processes' locks.
pub(super) struct Patience<'a> {
    options: &'a SqliteOptions,
    until: Instant,
}

impl<'a> Patience<'a> {
    pub(super) fn new(options: &'a SqliteOptions) -> Self {
        Self { options, until: options.clock.now() + BUSY_WAIT_MAX }
    }

    /// Waits a moment, or gives up with the cause.
    pub(super) async fn after(&mut self, cause: Cause) -> Result<(), Fault> {
        if self.options.clock.now() >= self.until {
            return Err(Fault::Busy(cause));
        }
        tokio::time::sleep(BUSY_PAUSE_MAX.mul_f64(self.options.entropy.fraction())).await;
        Ok(())
    }
}
