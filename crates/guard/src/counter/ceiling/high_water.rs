//! How far a counter may have been taken: what a caller's highest number is held against. Nothing is moved.

use std::time::Instant;

use sequent_core::Cell;

use crate::counter::Guarded;

impl Guarded {
    /// How many ids may be given without the ledger, and how many a second are taken; none where nothing was taken lately.
    pub(crate) fn under_ceiling(&self, now: Instant) -> (u64, f64) {
        let grant = self.good_permit();
        let state = self.state();
        // While the ledger is there, the next take of one without a grant gets one.
        let rate =
            if grant.is_some() || self.shared.client.loss().is_some() { state.pace.rate(now) } else { 0.0 };
        let left = grant.map_or(0, |grant| grant.ceiling.saturating_sub(state.seen));
        (left, rate)
    }

    /// As far as this process knows without asking: what its grant allows, and what it has seen.
    pub(crate) fn reach(&self) -> u64 {
        let state = self.state();
        state.grant.as_ref().map_or(0, |grant| grant.ceiling).max(state.seen)
    }

    /// The same, and what the store's counter is at, which a ledger that went back knows nothing of. Without a grant the
    /// counter is touched as a take would; `None` where it can't be asked.
    pub(crate) async fn value(&self) -> Option<u64> {
        let grant = self.grant(1).await.ok()?;
        let cell = Cell { key: &self.cell, under: &grant.row.store };
        let value = self.shard.store().lift(cell, grant.row.epoch, 0).await.ok()?;
        Some(value.max(self.reach()))
    }
}
