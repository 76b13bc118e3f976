//! Did the counter go backwards since the latest take? Judged as the next take would be, without taking.

use sequent_core::{Cell, Epoch, ErrorKind, Rule};

use crate::counter::{Guarded, grant::Grant};

impl Guarded {
    /// Reads the counter, and gives its epoch up if the store has forgotten what was taken. A store that can't be asked
    /// is for takes to judge.
    pub(crate) async fn look_back(&self) {
        if self.is_shut() {
            return;
        }
        let is_over = match self.good_permit() {
            Some(grant) => self.is_over(&grant).await,
            // An epoch that was to follow and could not begin.
            None => self.state().refused.is_some(),
        };
        // Not only when it is taken from: a new epoch keeps every server from the ids that the store would give again.
        if is_over && self.grant(1).await.is_err() {
            self.fence().await;
        }
    }

    /// Whether another epoch must follow; the grant is then gone.
    async fn is_over(&self, grant: &Grant) -> bool {
        // Before the store is asked: what is taken meanwhile may not be in its answer.
        let floor = self.state().order.floor();
        let cell = Cell { key: &self.cell, under: &grant.row.store };
        match self.shard.store().lift(cell, grant.row.epoch, 0).await {
            Ok(value) if value < floor && self.shared.rules.keep(Rule::Order) => {
                let detail = format!("the counter was at {floor}, and was found at {value}");
                self.regressed(Some(grant.row.epoch), detail);
            }
            // Another server's new epoch, or a store that forgot this one: the first touch finds out which.
            Err(error) if error.kind() == ErrorKind::Regressed => {
                self.tell_tampered(grant.row.epoch, &error);
            }
            Err(error) => {
                // A store that was restarted is inspected before it is touched again.
                let _ = self.refused(grant, error);
                return false;
            }
            Ok(_) => return false,
        }
        self.give_up(grant.row.epoch, true);
        true
    }

    /// Closes the cell of a store that forgot, while no epoch can follow: others can't hear of it as long as the ledger is
    /// away, and would give its ids again. The counter is out of use until the ledger is back.
    async fn fence(&self) {
        let (refused, floor) = {
            let state = self.state();
            (state.refused, state.order.floor())
        };
        let (Some(epoch), Some(under)) = (refused, self.shard.instance()) else { return };
        let cell = Cell { key: &self.cell, under: &under };
        if self.shard.store().lift(cell, epoch, 0).await.is_ok_and(|value| value < floor) {
            // What can't be closed now is at the next look.
            let _ = self.shard.store().close(cell, Epoch::random(&*self.shared.env.entropy)).await;
        }
    }
}
