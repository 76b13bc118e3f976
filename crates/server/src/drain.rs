//! For how long a server has been draining, for those who wait for its end.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use crate::{dials::Dials, meter};

/// When a drain began, if it has. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Drain {
    began: Arc<OnceLock<Instant>>,
    dials: Dials,
}

impl Drain {
    pub(crate) fn new(dials: Dials) -> Self {
        Self { began: Arc::default(), dials }
    }

    pub(crate) fn begin(&self, now: Instant) {
        self.began.get_or_init(|| now);
    }

    /// Sets its gauges.
    pub(crate) fn show(&self, now: Instant) {
        let since = self.began.get().map_or(Duration::ZERO, |began| now.saturating_duration_since(*began));
        meter::set_drain(since, self.dials.drain_delay() + self.dials.drain_timeout());
    }
}
