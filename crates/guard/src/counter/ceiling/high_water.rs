//! High water: how far a counter may have been taken, for comparison with a caller's highest number. Nothing is moved.

use std::time::Instant;

use sequent_core::Cell;

use crate::counter::Guarded;

impl Guarded {
    /// How many ids can be given without the ledger, and the rate per second; 0 if nothing was taken lately.
    pub(crate) fn under_ceiling(&self, now: Instant) -> (u64, f64) {
        let grant = self.valid_grant();
        let state = self.state();
        // While the ledger is available, the next take of a counter without a grant gets one.
        let rate =
            if grant.is_some() || self.shared.client.loss().is_some() { state.pace.rate(now) } else { 0.0 };
        let left = grant.map_or(0, |grant| grant.ceiling.saturating_sub(state.seen));
        (left, rate)
    }

    /// The highest id that this process knows of: its grant's ceiling, or what it has seen.
    pub(crate) fn reach(&self) -> u64 {
        let state = self.state();
        state.grant().map_or(0, |grant| grant.ceiling).max(state.seen)
    }

    /// As [`reach`](Self::reach), with the store's value, which a ledger that went back does not know. Without a grant one is
    /// acquired, as for a take. `None` if the store cannot be asked.
    pub(crate) async fn value(&self) -> Option<u64> {
        let grant = self.grant(1).await.ok()?;
        let cell = Cell { key: &self.cell, under: &grant.row.store };
        let value = self.shard.store().lift(cell, grant.row.epoch, 0).await.ok()?;
        Some(value.max(self.reach()))
    }
}
