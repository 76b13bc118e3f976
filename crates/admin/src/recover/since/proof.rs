//! The cell that proves a larger loss than was worked out.

use sequent_core::SlotIndex;
use serde::Serialize;

use super::LossEstimate;
use crate::cell_scan::Reached;

/// A cell that is further above what the ledger permits it than was worked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// The slot.
    pub slot: SlotIndex,
    /// The cell's key, as its store has it.
    pub key: String,
    /// Its raw id.
    pub value: u64,
    /// Its ceiling in the ledger; without a row, above what it would begin.
    pub ceiling: u64,
}

impl Proof {
    /// For people: what the loss was raised to, and by which cell.
    pub(super) fn line(&self, bump: u64) -> String {
        let Self { slot, key, value, ceiling } = self;
        format!(
            "raised to {bump}: in slot {slot} the cell of key {key} is at raw id {value}, and the ledger at hand permits \
             {ceiling}: more than was worked out, so a counter that can't be seen may have come further, too"
        )
    }
}

impl LossEstimate {
    /// The same, and at least what this cell proves.
    pub(super) fn proven(self, furthest: Option<&Reached>) -> Self {
        let Some(cell) = furthest.filter(|cell| cell.least() > self.bump) else { return self };
        let Reached { slot, key, value, ceiling, .. } = cell;
        let proof = Proof { slot: *slot, key: key.to_string(), value: *value, ceiling: *ceiling };
        Self { bump: cell.least(), proof: Some(proof), ..self }
    }
}
