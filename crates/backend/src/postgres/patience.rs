//! Bounded retries against other transactions.

use std::time::{Duration, Instant};

use super::{
    PostgresOptions,
    fault::{Cause, Fault},
};

/// How long a verb tries against others' locks, waiting for one included (`lock_timeout` is a little less): below an
/// attempt's limit of 1 s, so that a row which is held is said to be contended, which costs no connection.
const BUSY_WAIT_MAX: Duration = Duration::from_millis(800);

/// How many tries a verb has in all.
const TRIES_MAX: u32 = 16;

/// The longest pause before a second try; before later ones it doubles. The real one is random up to this.
const BUSY_PAUSE_MAX: Duration = Duration::from_millis(2);

/// What is left of a verb's time and tries.
pub(super) struct Patience<'a> {
    options: &'a PostgresOptions,
    until: Instant,
    tried: u32,
}

impl<'a> Patience<'a> {
    pub(super) fn new(options: &'a PostgresOptions) -> Self {
        Self { options, until: options.clock.now() + BUSY_WAIT_MAX, tried: 0 }
    }

    /// Waits a moment, or gives up with the cause.
    pub(super) async fn after(&mut self, cause: Cause) -> Result<(), Fault> {
        self.tried += 1;
        if self.tried >= TRIES_MAX || self.options.clock.now() >= self.until {
            return Err(Fault::Busy(cause));
        }
        let longest = BUSY_PAUSE_MAX * (1 << self.tried.min(6));
        tokio::time::sleep(longest.mul_f64(self.options.entropy.fraction())).await;
        Ok(())
    }
}
