//! How many raw ids nobody will get: those between what a counter had given, as far as anybody knows, and where it goes on.

use sequent_core::{
    Cell, Epoch, Event, SourceError,
    ledger::{Counter, Row},
};

use crate::counter::{Guarded, grant::Grant};

impl Guarded {
    /// How far the counter of this row has been given. A recovery may have added a loss to what a row of an earlier run of the ledger
    /// calls seen, and that was given to nobody: of such a row, where its epoch began.
    pub(in crate::counter) fn given(&self, row: &Row) -> u64 {
        if self.shared.client.speaks_as(&row.ledger) { row.reached() } else { row.base }
    }

    /// Tells of an epoch that begins at `base`, of a counter that was found at `value` and had `given` so many.
    pub(in crate::counter) fn tell_opened(&self, epoch: Epoch, base: u64, value: u64, given: u64) {
        let known = value.max(given).max(self.state().taken);
        let (Counter { slot, key }, skipped) = (self.counter.clone(), base.saturating_sub(known));
        self.shared.env.events.emit(Event::EpochOpened { slot, key, epoch, base, skipped });
    }

    /// Moves the cell up to `floor`, and tells what that left out. Read before, so that of many servers that lift one counter it is
    /// counted by the first.
    pub(in crate::counter) async fn lift_cell(&self, grant: &Grant, floor: u64) -> Result<(), SourceError> {
        let (cell, epoch) = (Cell { key: &self.cell, under: &grant.row.store }, grant.row.epoch);
        let store = self.shard.store();
        let found = store.lift(cell, epoch, 0).await?;
        if found >= floor {
            return Ok(());
        }
        store.lift(cell, epoch, floor).await?;
        {
            let mut state = self.state();
            state.position = state.position.max(floor);
        }
        let Counter { slot, key } = self.counter.clone();
        self.shared.env.events.emit(Event::Lifted { slot, key, to: floor, skipped: floor - found });
        Ok(())
    }
}
