//! A take in flight: its place in the order is judged once, at the latest when its block leaves.

use sequent_core::Block;

use super::{
    Guarded, State,
    checks::monotonicity::{Backwards, Ticket},
    grant::Grant,
};

/// A take in flight; a caller that goes away leaves nothing behind.
pub(super) struct InFlight<'a> {
    of: &'a Guarded,
    ticket: Ticket,
    placed: bool,
}

impl<'a> InFlight<'a> {
    /// A take begins: what has been seen by now is what its block must exceed.
    pub(super) fn begin(of: &'a Guarded) -> Self {
        let ticket = of.state().order.begin();
        Self { of, ticket, placed: false }
    }

    /// Judges the order, and counts the block as seen by takes that begin later. A leap is seen by nobody, so that
    /// nothing follows it: its place is judged when it leaves, if the ledger has followed it by then.
    pub(super) fn arrive(&mut self, block: Block, grant: &Grant) -> Result<(), Backwards> {
        let mut state = self.of.state();
        if self.of.beyond_leap(&state, grant, block).is_some() {
            return Ok(());
        }
        self.place(&mut state, block)
    }

    /// The same, without the doubt; once judged, it is not judged again.
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
