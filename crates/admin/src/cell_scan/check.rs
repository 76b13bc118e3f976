//! Check that a named loss covers all cells that were seen.

use std::collections::BTreeSet;

use sequent_core::SlotIndex;
use sequent_engine::OpenError;

use super::{Extent, Reached};
use crate::recover::unreadable_witnesses::without_words;

impl Extent {
    /// Refuses a loss that is smaller than the cells show. Also refuses if a store could not be read and no
    /// operator named its slot. Returns the notes that apply all the same.
    ///
    /// # Errors
    ///
    /// `Refused`, with the cell, its value and the least loss that may be named.
    pub(crate) fn check(&self, bump: u64, without: &BTreeSet<SlotIndex>) -> Result<Vec<String>, OpenError> {
        self.check_told(without)?;
        self.check_bump(bump)?;
        Ok(self.untold_lines())
    }

    /// Checks that every store was read, or that an operator named its slot.
    fn check_told(&self, without: &BTreeSet<SlotIndex>) -> Result<(), OpenError> {
        let unnamed: Vec<_> = self.unread.iter().filter(|(slot, _)| !without.contains(slot)).collect();
        if unnamed.is_empty() {
            return Ok(());
        }
        let causes: Vec<String> =
            unnamed.iter().map(|(slot, error)| format!("slot {slot}: {error}")).collect();
        let bare = if self.has_rows { "" } else { "the ledger has no rows, and " };
        Err(OpenError::Refused(format!(
            "{bare}the cells of these stores can't be read: {}; nothing was done. Repair that, and repeat the command; or, if the \
             stores are lost, add `{}`: then only N prevents that their numbers are given again",
            causes.join("; "),
            without_words(unnamed.iter().map(|(slot, _)| *slot))
        )))
    }

    /// Checks that no cell is further ahead than the named loss.
    fn check_bump(&self, bump: u64) -> Result<(), OpenError> {
        let Some(cell) = self.furthest().filter(|cell| cell.least() > bump) else { return Ok(()) };
        let (least, above) = (cell.least(), self.above(cell));
        Err(OpenError::Refused(format!(
            "--bump is {bump}: at least {least} is needed, for {above}. Numbers up to there would be given again once that store loses \
             the cell, and by each slot whose store is empty or was not read; nothing was done. `sequent recover --bump {least}`, \
             or more if a counter that was not read has come further. If that cell was set by hand and its numbers were never \
             given, delete it first"
        )))
    }

    /// The cell that needs the highest bump, if any needs one.
    pub(crate) fn proof(&self) -> Option<String> {
        self.furthest().filter(|cell| cell.least() > 0).map(|cell| self.above(cell))
    }

    /// The position of a cell, and the ceiling or floor below it.
    fn above(&self, cell: &Reached) -> String {
        let (at, ceiling) = (cell.place(), cell.ceiling);
        match (self.has_rows, cell.has_row) {
            (false, _) => format!("the ledger has no rows, and {at}"),
            (true, true) => format!("{at}, and its ceiling in the ledger is {ceiling}"),
            (true, false) => {
                format!("{at}, and the ledger has no row of it: it then begins above {ceiling} and the bump")
            }
        }
    }
}
