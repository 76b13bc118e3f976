//! Headroom check before a take: whether there is a ceiling under which its ids could leave. A refusal uses up no number.

use sequent_core::{Block, ErrorKind, Rule, SourceError, ledger::Raise};

use crate::counter::{CounterState, Guarded, grant::Grant};
use crate::{guard::Ask, jump_limit};

impl Guarded {
    /// The number of ids that a take may ask for.
    ///
    /// If nothing is left under the ceiling and it cannot be raised, this fails without a take. Otherwise retrying callers
    /// would advance the store's counter by a block each time, which cannot leave, until the counter has jumped.
    ///
    /// So a counter burns the blocks in flight when the ledger went away, one per take, and nothing afterwards.
    pub(in crate::counter) async fn room(&self, grant: &Grant, want: u64) -> Result<u64, SourceError> {
        if !self.shared.rules.keep(Rule::WitnessFirst) {
            return Ok(want);
        }
        let (left, barred) = self.left(grant);
        match self.shared.client.in_reach() {
            Ok(()) if left == 0 && barred => self.raise_first(grant, want).await.map(|()| want),
            Ok(()) => Ok(want),
            Err(_) if left > 0 => Ok(want.min(left)),
            Err(error) => Err(error),
        }
    }

    /// Notes a block from the store, whether or not it leaves.
    pub(in crate::counter) fn drew(&self, grant: &Grant, block: Block) {
        let now = self.shared.env.clock.now();
        let mut state = self.state();
        // A jump is not consumption.
        let is_near = self.beyond_jump(&state, grant, block).is_none();
        let advance = if is_near { block.last().saturating_sub(state.position) } else { 0 };
        state.pace.took(block.count(), advance, now);
        if is_near {
            state.position = state.position.max(block.last());
        }
        if let Some(held) = state.held_mut(grant.row.epoch) {
            held.drawn = held.drawn.max(block.last());
        }
    }

    /// Notes how the last raise under this grant ended: `Barred` if it failed, `Open` if it was repeated with success.
    pub(in crate::counter) fn after_raise(&self, grant: &Grant, next: fn(Grant) -> CounterState) {
        let mut state = self.state();
        if let Some(held) = state.held(grant.row.epoch).cloned() {
            state.enter(next(held));
        }
    }

    /// The number of ids left under the ceiling, as far as this process knows, and whether the last raise failed.
    fn left(&self, grant: &Grant) -> (u64, bool) {
        let state = self.state();
        let held = state.held(grant.row.epoch).unwrap_or(grant);
        let highest = held.drawn.max(held.row.base).max(state.order.floor());
        (held.ceiling.saturating_sub(highest), matches!(state.current, CounterState::Barred(_)))
    }

    /// Repeats a failed raise before the take, so that another failure costs no number. It never asks for a jump. Whether the
    /// store's answer is one is checked when it arrives.
    async fn raise_first(&self, grant: &Grant, want: u64) -> Result<(), SourceError> {
        let raise = self.raise_ahead_of(grant, want);
        let under = grant.row.ledger.clone();
        let answer =
            self.shared.ask(Ask::Raise(under, raise.clone())).await.and_then(crate::guard::Answered::raised);
        match answer {
            Ok(raised) => {
                self.after_raise(grant, CounterState::Open);
                self.learn(&raise, &raised);
                Ok(())
            }
            // Lost just now, or another instance: the consequences are decided together with the block.
            Err(error) if error.kind() == ErrorKind::InstanceChanged => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn raise_ahead_of(&self, grant: &Grant, want: u64) -> Raise {
        let state = self.state();
        let held = state.grant().unwrap_or(grant);
        let at = held.ceiling.max(state.seen);
        let jump_max = jump_limit::jump_max(at, self.raw_max(), state.pace.block());
        let ceiling = held.drawn.max(at).saturating_add(want).min(at.saturating_add(jump_max));
        let (counter, epoch, seen) = (self.counter.clone(), grant.row.epoch, state.seen);
        Raise { counter, epoch, ceiling: ceiling.min(self.raw_max()), seen, jump_max }
    }
}
