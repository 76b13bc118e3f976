//! A cell and its distance above its ceiling.

use sequent_core::{Key, SlotIndex};

use crate::recover::since::BUMP_MAX;

/// A cell's value and what bounds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) slot: SlotIndex,
    pub(crate) key: Key,
    pub(crate) value: u64,
    /// The raw id up to which nothing is given again, according to the ledger: the ceiling, or without a row
    /// the floor.
    pub(crate) ceiling: u64,
    /// Whether the ledger has a row of it.
    pub(crate) has_row: bool,
    /// How far it can have come at most, by records other than row and cell; `None` if they were not read.
    pub(crate) reach: Option<u64>,
}

impl Reached {
    /// A cell of which no ledger has any record.
    pub(super) fn bare(slot: SlotIndex, key: Key, value: u64) -> Self {
        Self { slot, key, value, ceiling: 0, has_row: false, reach: None }
    }

    /// The least bump that covers it.
    pub(crate) fn least(&self) -> u64 {
        self.value.saturating_sub(self.ceiling)
    }

    /// The slot, key and value, for people.
    pub(super) fn place(&self) -> String {
        let Self { slot, key, value, .. } = self;
        format!("in slot {slot} the cell of key {key} is at raw id {value}")
    }

    /// The warning for a cell that no bump covers.
    pub(super) fn warning(&self) -> String {
        let Self { slot, key, value, ceiling, .. } = self;
        let above = match ceiling {
            0 => format!("above {BUMP_MAX}"),
            ceiling => format!("more than {BUMP_MAX} above its ceiling {ceiling}"),
        };
        let mend = self.mend();
        format!(
            "slot {slot}: the cell of key {key} is at raw id {value}, {above}, which no bump names: {mend}"
        )
    }

    /// The possible origin of the value, and the repair.
    fn mend(&self) -> String {
        let sequence = self.key.sequence();
        match self.reach {
            Some(reach) if reach.saturating_add(BUMP_MAX) < self.value => format!(
                "and since its epoch was opened it can't have come beyond {reach}, so a hand or a broken disk set it: delete it, and the \
                 counter begins above its ceiling and the bump"
            ),
            Some(_) => format!(
                "and it can have come so far in its epoch, so its row may have been set lower by hand, or be older: it must stay until \
                 `sequent advance {sequence} TO --leap`, TO at least the highest number that was given"
            ),
            None => format!(
                "nothing follows it, and it must stay until `sequent advance {sequence} TO --leap`, TO at least the highest number that was \
                 given; where a hand set it, delete it"
            ),
        }
    }
}
