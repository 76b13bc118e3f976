//! Did the counter go backwards since the latest take? Judged as the next take would be, without taking.

use sequent_core::{Cell, ErrorKind, Rule};

use super::Guarded;

impl Guarded {
    /// Reads the counter, and gives its life up if the store has forgotten what was taken. A store that can't be asked
    /// is for takes to judge.
    pub(crate) async fn look_back(&self) {
        if self.is_shut() {
            return;
        }
        let Some(permit) = self.good_permit() else {
            if self.state().refused.is_some() {
                // The life that was to follow could not begin.
                let _ = self.permit(1).await;
            }
            return;
        };
        // Before the store is asked: what is taken meanwhile may not be in its answer.
        let floor = self.state().order.floor();
        let cell = Cell { key: &self.counter.key, under: &permit.row.store };
        match self.shard.store().lift(cell, permit.row.life, 0).await {
            Ok(value) if value < floor && self.shared.rules.keep(Rule::Order) => {
                self.regressed(format!("the counter was at {floor}, and was found at {value}"));
                self.give_up(permit.row.life, true);
            }
            Err(error) if error.kind() == ErrorKind::Regressed => {
                // Another server's new life, or a store that forgot this one: the first touch finds out which.
                self.give_up(permit.row.life, true);
            }
            Err(error) => {
                // A store that was restarted is inspected before it is touched again.
                let _ = self.refused(&permit, error);
                return;
            }
            Ok(_) => return,
        }
        // Not only when it is taken from: a new life keeps every server from the ids that the store would give again.
        // Where it can't begin now, the next take begins it.
        let _ = self.permit(1).await;
    }
}
