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
        let advice = self.advice();
        format!(
            "slot {slot}: the cell of key {key} is at raw id {value}, {above}, more than any --bump: {advice}"
        )
    }

    /// The possible origin of the value, and the repair.
    fn advice(&self) -> String {
        let sequence = self.key.sequence();
        match self.reach {
            Some(reach) if reach.saturating_add(BUMP_MAX) < self.value => format!(
                "in its epoch it can't have come beyond {reach}, so it was set by hand or by a broken disk. Delete it: the counter then begins \
                 above its ceiling and the bump"
            ),
            Some(_) => format!(
                "in its epoch it can have come so far, so its row may be older, or lowered by hand. Keep the cell until `sequent advance \
                 {sequence} TO --jump`, TO at least the highest number that was given"
            ),
            None => format!(
                "no epoch follows it. Keep the cell until `sequent advance {sequence} TO --jump`, TO at least the highest number that was \
                 given. If it was set by hand, delete it"
            ),
        }
    }
}
