//! What all handles of one sequence share.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use sequent_buffer::{Reservoir, Stats};

use crate::{
    lease::{high_water::HighWater, request_scope::RequestScope},
    render::local_render::RenderState,
    sequence::unbuffered::UnbufferedQueue,
    telemetry::client_metrics,
};

/// What all handles of one sequence share.
pub(crate) struct SequenceInner {
    pub(super) scope: RequestScope,
    pub(super) high_water: Arc<HighWater>,
    pub(super) reservoir: Reservoir,
    /// Those who ask for a number without a lease, once somebody has.
    pub(super) unbuffered: OnceLock<UnbufferedQueue>,
    /// How many issued numbers are counted.
    reported: AtomicU64,
    /// Whether a server has said that there are no leases of it.
    pub(super) is_dense: AtomicBool,
    pub(super) render_state: RenderState,
}

impl SequenceInner {
    pub(crate) fn new(scope: RequestScope, high_water: Arc<HighWater>, reservoir: Reservoir) -> Self {
        let (unbuffered, reported, is_dense) = (OnceLock::new(), AtomicU64::new(0), AtomicBool::new(false));
        Self {
            scope,
            high_water,
            reservoir,
            unbuffered,
            reported,
            is_dense,
            render_state: RenderState::default(),
        }
    }

    pub(crate) fn scope(&self) -> &RequestScope {
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

impl Drop for SequenceInner {
    fn drop(&mut self) {
        self.report();
    }
}
