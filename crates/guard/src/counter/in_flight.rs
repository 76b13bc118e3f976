//! Take in flight: its order is checked once, at the latest when its block leaves.

use sequent_core::Block;

use super::{
    Guarded, State,
    checks::monotonicity::{Backwards, Ticket},
    grant::Grant,
};

/// A take in flight. Dropping it removes its ticket, so a caller that goes away leaves nothing behind.
pub(super) struct InFlight<'a> {
    of: &'a Guarded,
    ticket: Ticket,
    placed: bool,
}

impl<'a> InFlight<'a> {
    /// Begins a take. Its block must exceed everything seen until now.
    pub(super) fn begin(of: &'a Guarded) -> Self {
        let ticket = of.state().order.begin();
        Self { of, ticket, placed: false }
    }

    /// Checks the order, and counts the block as seen for takes that begin later. A jump is not counted, so that nothing
    /// follows it. Its order is checked when it leaves, if the ledger has accepted it by then.
    pub(super) fn arrive(&mut self, block: Block, grant: &Grant) -> Result<(), Backwards> {
        let mut state = self.of.state();
        if self.of.beyond_jump(&state, grant, block).is_some() {
            return Ok(());
        }
        self.place(&mut state, block)
    }

    /// Checks the order, also of a jump. Only the first check counts.
    pub(super) fn place(&mut self, state: &mut State, block: Block) -> Result<(), Backwards> {
        if self.placed {
            return Ok(());
        }
        self.placed = true;
        state.order.complete(self.ticket, block, self.of.shared.rules)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.of.state().order.abandon(self.ticket);
    }
}
