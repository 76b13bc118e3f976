//! Shared part of all handles of one scope.

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

/// Shared part of all handles of one scope: reservoir, queue of unbuffered requests, render mode.
pub(crate) struct SequenceInner {
    pub(crate) scope: RequestScope,
    pub(crate) high_water: Arc<HighWater>,
    pub(crate) reservoir: Reservoir,
    /// Queue of unbuffered requests, made by the first of them.
    pub(super) unbuffered: OnceLock<UnbufferedQueue>,
    /// How many issued numbers the metrics already count.
    reported: AtomicU64,
    /// Whether a server reported that the sequence is dense, and so has no leases.
    pub(super) is_dense: AtomicBool,
    pub(crate) render_state: RenderState,
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

    /// Counts the numbers issued since the last report. Counting each number would cost more than issuing it.
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
