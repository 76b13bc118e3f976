//! Advance of a counter by an operator: a new epoch above the numbers that it must not give.

use sequent_core::{
    Block, Cell, Epoch, ErrorKind, InstanceId, SourceError,
    ledger::{Opening, Over, Row},
};

use super::{
    Guarded,
    acquire::{TOUCHES_MAX, overtaken},
};
use crate::jump_limit;

impl Guarded {
    /// Begins an epoch above `floor`, unless the counter is above it already. The epoch before ends for every server, and ids
    /// taken but not released are dropped.
    ///
    /// `floor` may be arbitrarily far, since an operator named it. The value found at the close, and the row's ceiling, must be
    /// no jump.
    pub(crate) async fn advance_to(&self, floor: u64) -> Result<(), SourceError> {
        let _one_at_a_time = self.touch.lock().await;
        let mut last = None;
        for _ in 0..TOUCHES_MAX {
            self.shared.client.trusted()?;
            let under = self.shared.client.instance();
            let (store, mark) = self.shard.admit(&under).await?;
            if let Some(mark) = mark {
                self.shared.client.meet_mark(mark).await?;
            }
            let (_, row, clock_ms) = self.row().await?;
            if let Some(row) = row.as_ref().filter(|row| is_past(row, floor)) {
                let is_believed = self.believe(row, &store, clock_ms).await;
                // An implausible row is replaced if the operator's floor is as far. Otherwise its counter gives nothing anyway.
                if !is_believed.is_err_and(|error| error.kind() == ErrorKind::Jumped) || far_below(row, floor)
                {
                    return Ok(());
                }
            }
            match self.begin_above(&store, row, floor).await {
                Err(error) if matches!(error.kind(), ErrorKind::InstanceChanged | ErrorKind::Regressed) => {
                    last = Some(overtaken(&error));
                }
                outcome => return outcome,
            }
        }
        Err(last
            .unwrap_or_else(|| SourceError::new(ErrorKind::Contended, "other servers were faster each time")))
    }

    async fn begin_above(&self, store: &InstanceId, row: Option<Row>, floor: u64) -> Result<(), SourceError> {
        let epoch = Epoch::random(&*self.shared.env.entropy);
        let cell = Cell { key: &self.cell, under: store };
        self.shared.client.in_reach()?;
        self.drop_grant();
        let value = self
            .shard
            .store()
            .close(cell, epoch)
            .await
            .map_err(|error| self.instance_changed(store, error))?;
        self.compare_with_taken(value);
        let over = Over::read(row.as_ref());
        let given = row.as_ref().map_or(0, |row| self.given(row));
        let (at, ceiling) = row.map_or((0, 0), |row| (row.reached(), row.ceiling));
        let far =
            jump_limit::left_ahead(at, ceiling).saturating_add(jump_limit::jump_max(at, self.raw_max(), 1));
        let (found, bound) = (value.max(ceiling), at.saturating_add(far).max(floor));
        if found > bound {
            return Err(self.jumped(found, bound));
        }
        let opening =
            Opening { over, ..decreed(self.counter.clone(), epoch, store.clone(), value.max(floor)) };
        self.begin(store, opening, (value, given)).await.map(drop)
    }
}

/// Whether the counter of this row gives nothing at or below `floor` any more.
pub(crate) fn is_past(row: &Row, floor: u64) -> bool {
    row.reached() >= floor
}

/// Whether a row claims far more than `floor`: the operator has not confirmed its claim.
fn far_below(row: &Row, floor: u64) -> bool {
    row.reached() > floor.saturating_add(jump_limit::JUMP_CAP)
}

/// An epoch at `base`, as an operator requested, whatever the ledger has seen.
pub(crate) fn decreed(
    counter: sequent_core::ledger::Counter,
    epoch: Epoch,
    store: InstanceId,
    base: u64,
) -> Opening {
    Opening {
        counter,
        epoch,
        over: Over::Any,
        store,
        value: base,
        beside: 0,
        ahead: 0,
        jump_max: Block::NUMBER_MAX,
    }
}
