//! The highest number that this client was given of a scope, told with each ask: a cluster that can't have given it says so.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::lease::grant::Grant;

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct HighWater(AtomicU64);

impl HighWater {
    /// What to tell; 0 where there is nothing.
    pub(crate) fn value(&self) -> i64 {
        i64::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(i64::MAX)
    }

    /// Notes what came. Numbers of a period are left out: those of the next begin anew.
    pub(crate) fn record(&self, grant: &Grant) {
        if grant.period().is_empty() {
            self.0.fetch_max(grant.highest(), Ordering::Relaxed);
        }
    }
}
