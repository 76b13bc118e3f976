//! The machine's clock, stepped forward.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use sequent_core::{Clock, SystemClock};

/// How far it is ahead.
#[derive(Debug, Default)]
pub(crate) struct Stepped(Mutex<Duration>);

impl Stepped {
    /// So much further.
    pub(crate) fn step(&self, by: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }

    fn ahead(&self) -> Duration {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for Stepped {
    fn now(&self) -> Instant {
        SystemClock.now() + self.ahead()
    }

    fn wall(&self) -> SystemTime {
        SystemClock.wall() + self.ahead()
    }
}
