//! What everybody may know of the slots: one value, replaced as a whole, never two cells that must agree.

use sequent_core::SlotIndex;

use crate::SlotState;

/// Where one slot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) state: SlotState,
    /// How many rescues have begun: a key that last used the slot under an older one lifts it first.
    pub(crate) generation: u64,
    /// Whether it is out for being slow, and would serve whoever has nobody else.
    pub(crate) answers: bool,
    /// How often an operator has cleared this slot: a counter quarantined under an older one is tried again.
    pub(crate) pardon: u64,
}

impl Standing {
    pub(crate) const EMPTY: Self = Self { state: SlotState::Empty, generation: 0, answers: false, pardon: 0 };
}

/// All slots at one moment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    standings: Vec<Standing>,
    live: Vec<SlotIndex>,
    some_out: bool,
}

impl Snapshot {
    pub(crate) fn of(standings: Vec<Standing>) -> Self {
        let slots = || standings.iter().zip(0..);
        let live = slots().filter(|(s, _)| s.state == SlotState::Live).map(|(_, slot)| slot).collect();
        let some_out = slots().any(|(s, _)| !matches!(s.state, SlotState::Live | SlotState::Empty));
        Self { standings, live, some_out }
    }

    /// The slots in the rotation, ascending.
    pub(crate) fn live(&self) -> &[SlotIndex] {
        &self.live
    }

    /// Whether any slot that has a store is not live.
    pub(crate) fn some_out(&self) -> bool {
        self.some_out
    }

    pub(crate) fn standing(&self, slot: SlotIndex) -> Standing {
        self.standings.get(usize::from(slot)).copied().unwrap_or(Standing::EMPTY)
    }

    /// The slots in this state, ascending.
    pub(crate) fn in_state(&self, state: SlotState) -> impl Iterator<Item = SlotIndex> + '_ {
        self.standings.iter().zip(0..).filter(move |(s, _)| s.state == state).map(|(_, slot)| slot)
    }
}
