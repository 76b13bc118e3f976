//! An immutable snapshot of all slots. It is replaced as a whole, so that its parts always agree.

use sequent_core::SlotIndex;

use crate::status::SlotState;

/// One slot in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotView {
    pub(crate) state: SlotState,
    /// How many probations have begun. A key that last used the slot under an older generation lifts it first.
    pub(crate) generation: u64,
    /// Whether it is out only for slowness, and would serve callers that have no other slot.
    pub(crate) answers_slowly: bool,
    /// How often an operator has cleared this slot. A counter quarantined under a smaller count is tried again.
    pub(crate) clear_count: u64,
}

impl SlotView {
    pub(crate) const EMPTY: Self =
        Self { state: SlotState::Empty, generation: 0, answers_slowly: false, clear_count: 0 };
}

/// All slots at one moment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    slots: Vec<SlotView>,
    live: Vec<SlotIndex>,
    some_out: bool,
}

impl Snapshot {
    pub(crate) fn new(slots: Vec<SlotView>) -> Self {
        let indexed = || slots.iter().zip(0..);
        let live =
            indexed().filter(|(view, _)| view.state == SlotState::Live).map(|(_, slot)| slot).collect();
        let some_out = indexed().any(|(view, _)| !matches!(view.state, SlotState::Live | SlotState::Empty));
        Self { slots, live, some_out }
    }

    /// The slots in the rotation, ascending.
    pub(crate) fn live(&self) -> &[SlotIndex] {
        &self.live
    }

    /// Whether any slot that has a store is not live.
    pub(crate) fn some_out(&self) -> bool {
        self.some_out
    }

    pub(crate) fn slot(&self, slot: SlotIndex) -> SlotView {
        self.slots.get(usize::from(slot)).copied().unwrap_or(SlotView::EMPTY)
    }

    /// The slots in this state, ascending.
    pub(crate) fn in_state(&self, state: SlotState) -> impl Iterator<Item = SlotIndex> + '_ {
        self.slots.iter().zip(0..).filter(move |(view, _)| view.state == state).map(|(_, slot)| slot)
    }
}
