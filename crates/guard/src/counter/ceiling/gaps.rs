//! Gaps: the raw ids between the last one known to be given and the next one, which nobody will get.

use sequent_core::{
    Cell, Epoch, Event, SourceError,
    ledger::{Counter, Row},
};

use crate::counter::{Guarded, grant::Grant};

impl Guarded {
    /// The highest id known to be given of this row's counter. A row of an earlier instance of the ledger counts only by its
    /// base, since a recovery may have added a loss to its `seen` that was never given.
    pub(in crate::counter) fn given(&self, row: &Row) -> u64 {
        if self.shared.client.speaks_as(&row.ledger) { row.reached() } else { row.base }
    }

    /// Reports an epoch that begins at `base`. The cell was found at `value`, and `given` is the highest id known to be given.
    pub(in crate::counter) fn tell_opened(&self, epoch: Epoch, base: u64, value: u64, given: u64) {
        let known = value.max(given).max(self.state().taken);
        let (Counter { slot, key }, skipped) = (self.counter.clone(), base.saturating_sub(known));
        self.shared.env.events.emit(Event::EpochOpened { slot, key, epoch, base, skipped });
    }

    /// Raises the cell to `floor`, and reports the gap. The cell is read first, so that of many servers that lift a counter
    /// only the first reports it.
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
