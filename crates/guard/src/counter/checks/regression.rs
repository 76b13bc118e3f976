//! Regression check: whether the counter went backwards since the latest take, found without a take.

use sequent_core::{Cell, Epoch, ErrorKind, Rule};

use crate::counter::{CounterState, Guarded, grant::Grant};

impl Guarded {
    /// Reads the counter, and gives up its epoch if the store has forgotten ids. If the store cannot be asked, the takes will
    /// detect it.
    pub(crate) async fn look_back(&self) {
        if self.shared.is_closed() {
            return;
        }
        let is_over = match self.valid_grant() {
            Some(grant) => self.is_over(&grant).await,
            // An epoch was to follow and could not begin.
            None => self.state().refused().is_some(),
        };
        // Not only at the next take: a new epoch keeps every server from the ids that the store would give again.
        if is_over && self.grant(1).await.is_err() {
            self.fence().await;
        }
    }

    /// Whether a new epoch must follow. The grant is then dropped.
    async fn is_over(&self, grant: &Grant) -> bool {
        // Before the store is asked, since its answer may lack ids taken meanwhile.
        let floor = self.state().order.floor();
        let cell = Cell { key: &self.cell, under: &grant.row.store };
        match self.shard.store().lift(cell, grant.row.epoch, 0).await {
            Ok(value) if value < floor && self.shared.rules.keep(Rule::Order) => {
                let detail = format!("the counter was at {floor}, and was found at {value}");
                self.regressed(Some(grant.row.epoch), detail);
            }
            // A new epoch of another server, or a store that forgot this one: the first touch finds out which.
            Err(error) if error.kind() == ErrorKind::Regressed => {
                self.tell_tampered(grant.row.epoch, &error);
            }
            Err(error) => {
                // A restarted store is inspected before it is used again.
                let _ = self.refused(grant, error);
                return false;
            }
            Ok(_) => return false,
        }
        self.give_up(grant.row.epoch, CounterState::Refused(grant.row.epoch));
        true
    }

    /// Closes the cell of a store that forgot, while no epoch can follow. Without the ledger other servers cannot learn of it,
    /// and would give its ids again. The counter is unusable until the ledger is back.
    async fn fence(&self) {
        let (refused, floor) = {
            let state = self.state();
            (state.refused(), state.order.floor())
        };
        let (Some(epoch), Some(under)) = (refused, self.shard.instance()) else { return };
        let cell = Cell { key: &self.cell, under: &under };
        if self.shard.store().lift(cell, epoch, 0).await.is_ok_and(|value| value < floor) {
            // If the close fails, the next look repeats it.
            let _ = self.shard.store().close(cell, Epoch::random(&*self.shared.env.entropy)).await;
        }
    }
}
