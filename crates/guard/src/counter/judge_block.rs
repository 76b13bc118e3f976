//! Release of a block: only in its epoch, above everything seen, and at or below an acknowledged ceiling.

use sequent_core::{
    Block, ErrorKind, Event, Rule, SourceError,
    ledger::{Raise, Raised},
};

use super::{CounterState, Guarded, checks::monotonicity::Backwards, grant::Grant, in_flight::InFlight};
use crate::{guard::Ask, jump_limit};

/// Reason to drop a block: another epoch is in force.
pub(super) const EPOCH_ENDED: &str = "its epoch ended before it could leave";

/// Reason to drop a block: its counter was set by hand.
pub(super) const NOTHING_FOLLOWS: &str = "a jump that nothing follows";

/// Reason to drop a block: the guard has sent its last heartbeat.
const SHUT: &str = "the guard was closed before it could leave";

/// Reason to drop a block: the ceiling that permits it may permit another server's, too.
const OUTDONE: &str = "another instance of the ledger has replaced this one";

/// Decision about a block.
pub(super) enum Verdict {
    /// It leaves, cut at the end of the range.
    Leaves(Block),
    /// It was dropped, and the take begins again.
    Again(SourceError),
}

/// State of a block under the grant.
enum Standing {
    Witnessed,
    AboveCeiling(Grant),
    /// It is dropped, for this reason.
    Stays(ErrorKind, &'static str),
    /// It is dropped: the counter went backwards.
    Backwards(Backwards),
}

impl Guarded {
    pub(super) async fn judge(
        &self,
        grant: &Grant,
        mut flight: InFlight<'_>,
        block: Block,
    ) -> Result<Verdict, SourceError> {
        self.drew(grant, block);
        if let Some(judgement) = self.look_into(grant, block).await? {
            return Ok(judgement);
        }
        if let Err(backwards) = flight.arrive(block, grant) {
            return Ok(self.went_back(grant, block, &backwards));
        }
        let standing = self.release(grant, &mut flight, block);
        match standing {
            Standing::Witnessed => self.within_range(block),
            Standing::Stays(kind, why) => Ok(self.again(block, why, kind)),
            Standing::Backwards(backwards) => Ok(self.went_back(grant, block, &backwards)),
            Standing::AboveCeiling(held) => self.raise_and_release(&held, &mut flight, block).await,
        }
    }

    fn went_back(&self, grant: &Grant, block: Block, backwards: &Backwards) -> Verdict {
        self.regressed(Some(grant.row.epoch), format!("took {block}: {backwards}"));
        self.give_up(grant.row.epoch, CounterState::Refused(grant.row.epoch));
        self.again(block, "taken from a counter that went backwards", ErrorKind::Regressed)
    }

    /// Releases the block if the grant covers it now.
    fn release(&self, taken_under: &Grant, flight: &mut InFlight<'_>, block: Block) -> Standing {
        if self.shared.client.not_outdone().is_err() {
            return Standing::Stays(ErrorKind::LedgerBehind, OUTDONE);
        }
        let mut state = self.state();
        let rules = self.shared.rules;
        let held = match state.grant() {
            // R12
            Some(held) if held.row.epoch == taken_under.row.epoch || !rules.keep(Rule::BlockKeepsEpoch) => {
                held
            }
            None if !rules.keep(Rule::BlockKeepsEpoch) => taken_under,
            _ => return Standing::Stays(ErrorKind::InstanceChanged, EPOCH_ENDED),
        };
        // Checked under the lock that the last report takes, so that the report includes everything that left.
        if self.shared.is_closed() {
            return Standing::Stays(ErrorKind::NoWitness, SHUT);
        }
        // R13
        if block.last() <= held.ceiling || !rules.keep(Rule::WitnessFirst) {
            if let Err(backwards) = flight.place(&mut state, block) {
                return Standing::Backwards(backwards);
            }
            state.saw(block.last(), 0);
            state.order.saw(block.last());
            return Standing::Witnessed;
        }
        Standing::AboveCeiling(held.clone())
    }

    async fn raise_and_release(
        &self,
        held: &Grant,
        flight: &mut InFlight<'_>,
        block: Block,
    ) -> Result<Verdict, SourceError> {
        let raise = self.raise_for(held, block);
        let under = held.row.ledger.clone();
        let answer =
            self.shared.ask(Ask::Raise(under, raise.clone())).await.and_then(crate::guard::Answered::raised);
        match answer {
            Ok(Raised::Jumped { ceiling }) => {
                self.learn(&raise, &Raised::Jumped { ceiling });
                let bound = ceiling.saturating_add(raise.jump_max);
                self.dropped(block, NOTHING_FOLLOWS);
                Err(self.jumped(block.last(), bound))
            }
            Ok(raised) => {
                self.learn(&raise, &raised);
                match self.release(held, flight, block) {
                    Standing::Witnessed => self.within_range(block),
                    Standing::Stays(kind, why) => Ok(self.again(block, why, kind)),
                    Standing::Backwards(backwards) => Ok(self.went_back(held, block, &backwards)),
                    Standing::AboveCeiling(_) => {
                        Ok(self.again(block, EPOCH_ENDED, ErrorKind::InstanceChanged))
                    }
                }
            }
            Err(error) if error.kind() == ErrorKind::NoWitness => {
                self.dropped(block, "above its ceiling while the ledger is away");
                self.after_raise(held, CounterState::Barred);
                Err(error)
            }
            Err(error) if error.kind() == ErrorKind::InstanceChanged => {
                Ok(self.again(block, "the ledger is another instance", ErrorKind::InstanceChanged))
            }
            Err(error) => {
                self.dropped(block, "the ledger refused its ceiling");
                self.after_raise(held, CounterState::Barred);
                Err(error)
            }
        }
    }

    fn raise_for(&self, held: &Grant, block: Block) -> Raise {
        let state = self.state();
        let ahead = self.wanted_room(&state, self.shared.config.outage).full;
        let ceiling = block.last().saturating_add(ahead).min(self.raw_max().max(block.last()));
        let jump_max = jump_limit::jump_max(held.ceiling, self.raw_max(), state.pace.block());
        Raise { counter: self.counter.clone(), epoch: held.row.epoch, ceiling, seen: block.last(), jump_max }
    }

    /// The highest first id of a block that is no jump, if the block exceeds it. It is judged by what was seen, and by the
    /// grant's ceiling. If the ledger is available, its own ceiling decides in the end.
    pub(super) fn beyond_jump(&self, state: &super::State, held: &Grant, block: Block) -> Option<u64> {
        let at = state.seen.saturating_add(jump_limit::left_ahead(state.seen, held.ceiling));
        let bound = at.saturating_add(jump_limit::jump_max(at, self.raw_max(), state.pace.block()));
        (block.first() > bound).then_some(bound)
    }

    /// Cuts the block at the end of the range. A block wholly above it means that the counter is exhausted.
    fn within_range(&self, block: Block) -> Result<Verdict, SourceError> {
        if let Some(block) = block.up_to(self.raw_max()) {
            return Ok(Verdict::Leaves(block));
        }
        let context = format!("raw id {} is above {}", block.first(), self.raw_max());
        Err(SourceError::new(ErrorKind::Exhausted, context))
    }

    pub(super) fn again(&self, block: Block, why: &'static str, kind: ErrorKind) -> Verdict {
        self.dropped(block, why);
        Verdict::Again(SourceError::new(kind, why))
    }

    pub(super) fn dropped(&self, block: Block, why: &'static str) {
        let (slot, count) = (Some(self.counter.slot), block.count());
        self.shared.env.events.emit(Event::Dropped { slot, count, why });
    }
}
