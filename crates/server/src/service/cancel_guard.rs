//! A caller that leaves before it is answered is counted.

use std::time::Instant;

use crate::{service::NumberService, telemetry::request_metrics::RequestMetrics};

/// Guard of a waiting caller. If the caller disconnects, the request is dropped, and this guard counts it as
/// cancelled.
pub(super) struct CancelGuard<'a> {
    pub(super) service: &'a NumberService,
    pub(super) metrics: &'a RequestMetrics,
    pub(super) began: Instant,
    pub(super) is_answered: bool,
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.metrics.cancelled(self.service.now().saturating_duration_since(self.began));
        }
    }
}
