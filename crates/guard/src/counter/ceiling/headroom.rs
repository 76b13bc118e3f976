//! Before a take: is there a ceiling that what it gives could leave under? What is refused uses up no number.

use sequent_core::{Block, ErrorKind, Rule, SourceError, ledger::Raise};

use crate::counter::{Guarded, grant::Grant};
use crate::{guard::Ask, jump_limit};

impl Guarded {
    /// How many ids a take may ask for. Where nothing is left under the ceiling and no higher one is to be had, it fails
    /// without a take: callers that try again and again would otherwise move the store's counter on, each time by a
    /// block that can't leave, until what they find there is a leap.
    ///
    /// A counter thus burns what was in flight when the ledger was lost, a block a take, and nothing afterwards.
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

    /// The store gave this block, whether it leaves or not.
    pub(in crate::counter) fn drew(&self, grant: &Grant, block: Block) {
        let now = self.shared.env.clock.now();
        let mut state = self.state();
        // A leap is nobody's consumption.
        let is_near = self.beyond_leap(&state, grant, block).is_none();
        let advance = if is_near { block.last().saturating_sub(state.position) } else { 0 };
        state.pace.took(block.count(), advance, now);
        if is_near {
            state.position = state.position.max(block.last());
        }
        if let Some(held) = state.grant.as_mut().filter(|held| held.row.epoch == grant.row.epoch) {
            held.drawn = held.drawn.max(block.last());
        }
    }

    /// No raise was to be had for a block of this grant, or one is again.
    pub(in crate::counter) fn bar(&self, grant: &Grant, barred: bool) {
        let mut state = self.state();
        if let Some(held) = state.grant.as_mut().filter(|held| held.row.epoch == grant.row.epoch) {
            held.barred = barred;
        }
    }

    /// How many ids may be left under the ceiling, as far as this process knows; and whether the last raise failed.
    fn left(&self, grant: &Grant) -> (u64, bool) {
        let state = self.state();
        let same = |held: &&Grant| held.row.epoch == grant.row.epoch;
        let held = state.grant.as_ref().filter(same).unwrap_or(grant);
        let highest = held.drawn.max(held.row.base).max(state.order.floor());
        (held.ceiling.saturating_sub(highest), held.barred)
    }

    /// A raise that failed may fail again, for whatever reason: asked for before the take, it costs no number. It never
    /// goes as far as a leap: whether what the store gives then is one, is judged when it is there.
    async fn raise_first(&self, grant: &Grant, want: u64) -> Result<(), SourceError> {
        let raise = self.raise_ahead_of(grant, want);
        let under = grant.row.ledger.clone();
        let answer =
            self.shared.ask(Ask::Raise(under, raise.clone())).await.and_then(crate::guard::Answered::raised);
        match answer {
            Ok(raised) => {
                self.bar(grant, false);
                self.learn(&raise, &raised);
                Ok(())
            }
            // Lost just now, or another one: what that means for a block is judged with the block.
            Err(error) if error.kind() == ErrorKind::Reborn => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn raise_ahead_of(&self, grant: &Grant, want: u64) -> Raise {
        let state = self.state();
        let held = state.grant.as_ref().unwrap_or(grant);
        let at = held.ceiling.max(state.seen);
        let leap_max = jump_limit::leap_max(at, self.raw_max(), state.pace.block());
        let ceiling = held.drawn.max(at).saturating_add(want).min(at.saturating_add(leap_max));
        let (counter, epoch, seen) = (self.counter.clone(), grant.row.epoch, state.seen);
        Raise { counter, epoch, ceiling: ceiling.min(self.raw_max()), seen, leap_max }
    }
}
