//! A take far above all that was seen of its counter, whatever its ceiling says: a hand may have set both.

use sequent_core::{
    Block, Condition, ErrorKind, SourceError,
    ledger::{Counter, Reading, Row},
};

use crate::counter::{
    Guarded,
    grant::Grant,
    judge_block::{EPOCH_ENDED, NOTHING_FOLLOWS, Verdict},
};
use crate::jump_limit::{self, LEAP_CAP};

/// How it is said that the ledger's row permits what nobody can have been given, beside a cell that is there.
pub const FAR_BOTH: &str = "though the ledger's row permits it, by a ceiling of";

impl Guarded {
    /// How far a block may be above what is known here, where it is further. No ceiling was ever asked for by more than 2^36 above
    /// what was seen, and nobody has heard nothing of as much, unless it slept.
    fn far_beyond(&self, grant: &Grant, block: Block) -> Option<u64> {
        let state = self.state();
        let at = state.seen.max(grant.row.base);
        let leap = jump_limit::leap_max(at, self.raw_max(), state.pace.block());
        let bound = at.saturating_add(LEAP_CAP).saturating_add(leap);
        (block.first() > bound).then_some(bound)
    }

    /// A block that is far beyond what is known here is held against the row as it is now: others may have taken, and told, while
    /// this process slept. `Leapt` where nobody has told of it; `None` where it is judged as any other.
    pub(in crate::counter) async fn look_into(
        &self,
        grant: &Grant,
        block: Block,
    ) -> Result<Option<Verdict>, SourceError> {
        let Some(bound) = self.far_beyond(grant, block) else { return Ok(None) };
        let row = match self.row_believed(grant).await {
            Ok(row) => row,
            Err(error) if error.kind() == ErrorKind::NoWitness => {
                // Without the ledger there would be no other grant.
                self.dropped(block, NOTHING_FOLLOWS);
                return Err(self.leapt(block.first(), bound));
            }
            Err(error) if error.kind() == ErrorKind::Reborn => {
                return Ok(Some(self.again(block, "store or ledger is another instance", ErrorKind::Reborn)));
            }
            Err(error) => {
                self.leaves_alone(grant, block);
                return Err(error);
            }
        };
        let Some(row) = row else {
            self.give_up(grant.row.epoch, false);
            return Ok(Some(self.again(block, EPOCH_ENDED, ErrorKind::Reborn)));
        };
        self.catch_up(&row);
        let Some(bound) = self.far_beyond(grant, block) else { return Ok(None) };
        self.leaves_alone(grant, block);
        let (found, ceiling) = (block.first(), row.ceiling);
        Err(if found <= ceiling { self.far_both((found, ceiling), bound) } else { self.leapt(found, bound) })
    }

    /// The block stays, and nothing more is asked for under its grant.
    fn leaves_alone(&self, grant: &Grant, block: Block) {
        self.dropped(block, NOTHING_FOLLOWS);
        self.give_up(grant.row.epoch, false);
    }

    /// The row as it is now, where it holds the grant's epoch still.
    async fn row_believed(&self, grant: &Grant) -> Result<Option<Row>, SourceError> {
        let asked = std::slice::from_ref(&self.counter);
        let (_, Reading { rows, clock_ms }) = self.shared.client.read(asked).await?;
        let row = rows.into_iter().next().flatten().filter(|row| row.epoch == grant.row.epoch);
        if let Some(row) = &row {
            self.believe(row, &grant.row.store, clock_ms).await?;
        }
        Ok(row)
    }

    /// What others have told of the epoch that is held, and is believed.
    fn catch_up(&self, row: &Row) {
        let mut state = self.state();
        state.saw(row.reached(), row.base);
        state.order.saw(row.seen);
    }

    /// A leap under a ceiling that is one, too.
    fn far_both(&self, (found, ceiling): (u64, u64), bound: u64) -> SourceError {
        let Counter { slot, key } = &self.counter;
        let context = format!(
            "slot {slot} key {key}: raw id {found} is a leap, {FAR_BOTH} {ceiling}: at most {bound} is followed"
        );
        SourceError::new(ErrorKind::Leapt, context).with(Condition::FarRowAndCell)
    }
}
