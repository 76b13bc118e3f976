//! Highest number that this client was given of a scope. Each request carries it, so that a cluster that was restored
//! to an older state detects that.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::lease::grant::Grant;

/// Highest number that this client was given of a scope.
#[derive(Debug, Default)]
pub(crate) struct HighWater(AtomicU64);

impl HighWater {
    /// The value for a request; 0 if there is none.
    pub(crate) fn value(&self) -> i64 {
        i64::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(i64::MAX)
    }

    /// Records a grant. Numbers of a period are left out, since each period starts again.
    pub(crate) fn record(&self, grant: &Grant) {
        if grant.period().is_empty() {
            self.0.fetch_max(grant.highest(), Ordering::Relaxed);
        }
    }
}
