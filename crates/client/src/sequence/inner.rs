//! What all handles of one sequence share.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use sequent_buffer::{Reservoir, Stats};

use crate::{
    lease::{high_water::Highest, request_scope::Scope},
    render::local_render::Texts,
    sequence::unbuffered::Merged,
    telemetry::client_metrics,
};

/// What all handles of one sequence share.
pub(crate) struct Shared {
    pub(super) scope: Scope,
    pub(super) highest: Arc<Highest>,
    pub(super) reservoir: Reservoir,
    /// Those who ask for a number without a lease, once somebody has.
    pub(super) fresh: OnceLock<Merged>,
    /// How many issued numbers are counted.
    reported: AtomicU64,
    /// Whether a server has said that there are no leases of it.
    pub(super) is_dense: AtomicBool,
    pub(super) texts: Texts,
}

impl Shared {
    pub(crate) fn new(scope: Scope, highest: Arc<Highest>, reservoir: Reservoir) -> Self {
        let (fresh, reported, is_dense) = (OnceLock::new(), AtomicU64::new(0), AtomicBool::new(false));
        Self { scope, highest, reservoir, fresh, reported, is_dense, texts: Texts::default() }
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(crate) fn reservoir(&self) -> &Reservoir {
        &self.reservoir
    }

    /// Counts what has been issued since the last report: counting each number would cost more than issuing it.
    pub(crate) fn report(&self) -> Stats {
        let stats = self.reservoir.stats();
        let before = self.reported.swap(stats.issued, Ordering::Relaxed);
        client_metrics::issued("lease", stats.issued.saturating_sub(before));
        stats
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.report();
    }
}
