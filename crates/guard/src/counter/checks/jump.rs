//! Jump check: a take far above everything seen of its counter, whatever its ceiling. Cell and row may both have been set by
//! hand.

use sequent_core::{
    Block, Condition, ErrorKind, SourceError,
    ledger::{Counter, Reading, Row},
};

use crate::counter::{
    CounterState, Guarded,
    grant::Grant,
    judge_block::{EPOCH_ENDED, NOTHING_FOLLOWS, Verdict},
};
use crate::jump_limit::{self, JUMP_CAP};

/// Text for a row that permits what nobody can have been given, while the cell exists.
pub const FAR_BOTH: &str = "though the ledger's row permits it, by a ceiling of";

impl Guarded {
    /// The bound, if a block exceeds what is known here by more than can be explained. No ceiling was ever requested over 2^36
    /// above what was seen, and only a server that was paused can have missed reports of so much.
    fn far_beyond(&self, grant: &Grant, block: Block) -> Option<u64> {
        let state = self.state();
        let at = state.seen.max(grant.row.base);
        let jump = jump_limit::jump_max(at, self.raw_max(), state.pace.block());
        let bound = at.saturating_add(JUMP_CAP).saturating_add(jump);
        (block.first() > bound).then_some(bound)
    }

    /// Checks a block that is far above what is known here against the present row: others may have taken and reported while
    /// this process was paused. `Jumped` if nobody has reported it; `None` if it is judged like any other.
    pub(in crate::counter) async fn look_into(
        &self,
        grant: &Grant,
        block: Block,
    ) -> Result<Option<Verdict>, SourceError> {
        let Some(bound) = self.far_beyond(grant, block) else { return Ok(None) };
        let row = match self.row_believed(grant).await {
            Ok(row) => row,
            Err(error) if error.kind() == ErrorKind::NoWitness => {
                // Without the ledger no other grant can be had.
                self.dropped(block, NOTHING_FOLLOWS);
                return Err(self.jumped(block.first(), bound));
            }
            Err(error) if error.kind() == ErrorKind::InstanceChanged => {
                return Ok(Some(self.again(
                    block,
                    "store or ledger is another instance",
                    ErrorKind::InstanceChanged,
                )));
            }
            Err(error) => {
                self.drop_block_and_grant(grant, block);
                return Err(error);
            }
        };
        let Some(row) = row else {
            self.give_up(grant.row.epoch, CounterState::Closed);
            return Ok(Some(self.again(block, EPOCH_ENDED, ErrorKind::InstanceChanged)));
        };
        self.catch_up(&row);
        let Some(bound) = self.far_beyond(grant, block) else { return Ok(None) };
        self.drop_block_and_grant(grant, block);
        let (found, ceiling) = (block.first(), row.ceiling);
        Err(if found <= ceiling { self.far_both((found, ceiling), bound) } else { self.jumped(found, bound) })
    }

    /// Drops the block, and the grant.
    fn drop_block_and_grant(&self, grant: &Grant, block: Block) {
        self.dropped(block, NOTHING_FOLLOWS);
        self.give_up(grant.row.epoch, CounterState::Closed);
    }

    /// The present row, if it still has the grant's epoch and is plausible.
    async fn row_believed(&self, grant: &Grant) -> Result<Option<Row>, SourceError> {
        let asked = std::slice::from_ref(&self.counter);
        let (_, Reading { rows, clock_ms }) = self.shared.client.read(asked).await?;
        let row = rows.into_iter().next().flatten().filter(|row| row.epoch == grant.row.epoch);
        if let Some(row) = &row {
            self.believe(row, &grant.row.store, clock_ms).await?;
        }
        Ok(row)
    }

    /// Takes in what others have reported of the epoch, from a plausible row.
    fn catch_up(&self, row: &Row) {
        let mut state = self.state();
        state.saw(row.reached(), row.base);
        state.order.saw(row.seen);
    }

    /// The error of a jump under a ceiling that is a jump too.
    fn far_both(&self, (found, ceiling): (u64, u64), bound: u64) -> SourceError {
        let Counter { slot, key } = &self.counter;
        let context = format!(
            "slot {slot} key {key}: raw id {found} is a jump, {FAR_BOTH} {ceiling}: at most {bound} is accepted"
        );
        SourceError::new(ErrorKind::Jumped, context).with(Condition::FarRowAndCell)
    }
}
