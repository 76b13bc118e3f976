//! Operators' words about a member: obeyed once, undone by another one, or by their end.

use std::time::{Duration, Instant};

use sequent_core::{
    ErrorKind, Why,
    ledger::{Word, WordVerb},
};

use super::{Cause, Flip, Member, PROBE_IDLE};
use crate::SlotState;

/// A take that looked at the slots just before one of them began to drain has asked it by then.
const DRAIN_SETTLES: Duration = Duration::from_millis(100);

impl Member {
    pub(crate) fn word(&self) -> Option<&Word> {
        self.word.as_ref()
    }

    /// How often an operator has cleared what was quarantined here.
    pub(crate) fn pardon(&self) -> u64 {
        self.pardon
    }

    /// Until when the operator's word counts, in wall milliseconds.
    pub(crate) fn word_ends(&self) -> Option<u64> {
        self.word.as_ref().and_then(|word| word.until_ms)
    }

    /// The word about this member, if there is one: obeyed once, undone by nobody but another one, or its end.
    pub(crate) fn obey(&mut self, now: Instant, wall_ms: u64, word: Option<&Word>) -> Option<Flip> {
        let word = word.filter(|word| word.until_ms.is_none_or(|until| until > wall_ms));
        if word.map(|word| word.at_ms) == self.word.as_ref().map(|word| word.at_ms) {
            return None;
        }
        let was_held = self.is_held();
        self.word = word.cloned();
        match word.map(|word| word.verb) {
            Some(WordVerb::Evict) => word.and_then(|word| self.hold(now, word)),
            Some(WordVerb::Drain) => word.and_then(|word| self.drain(now, word)),
            Some(WordVerb::Rescue) => {
                self.pardon += 1;
                (self.state != SlotState::Live).then(|| self.begin_probation(now, now))
            }
            None => (was_held && self.state != SlotState::Quarantined)
                .then(|| self.begin_probation(now, now + PROBE_IDLE)),
        }
    }

    pub(super) fn is_held(&self) -> bool {
        self.word.as_ref().is_some_and(|word| word.verb != WordVerb::Rescue)
    }

    fn hold(&mut self, now: Instant, word: &Word) -> Option<Flip> {
        self.probing = None;
        if matches!(self.state, SlotState::Quarantined | SlotState::Evicted) {
            return None;
        }
        self.put_out(SlotState::Evicted, now, word)
    }

    /// Out as well, but for what it owes; a slot that is out already may owe something too. No eviction: nothing is wrong
    /// with it, and that the word was obeyed is told.
    fn drain(&mut self, now: Instant, word: &Word) -> Option<Flip> {
        self.probing = None;
        if matches!(self.state, SlotState::Quarantined | SlotState::Draining | SlotState::Drained) {
            return None;
        }
        self.put_out(SlotState::Draining, now, word);
        None
    }

    fn put_out(&mut self, state: SlotState, now: Instant, word: &Word) -> Option<Flip> {
        let was_in = matches!(self.state, SlotState::Live | SlotState::Probation);
        let fault = self.cause.take().filter(|cause| !cause.why.is_some_and(Why::is_by_word));
        self.fault = fault.map(|cause| cause.detail).or_else(|| self.fault.take());
        let before =
            self.fault.as_ref().map(|fault| format!("; it was out before, for: {fault}")).unwrap_or_default();
        let detail = format!("{} by {}: {}{before}", word.verb.as_str(), word.who, word.why);
        let why = if state == SlotState::Draining { Why::Draining } else { Why::EvictedByHand };
        let cause = Cause { kind: ErrorKind::Unavailable, why: Some(why), detail };
        self.leave(now);
        self.enter(state, now, Some(cause.clone()), None);
        was_in.then_some(Flip::Evicted { cause, retry_after: None })
    }

    /// Nothing that was asked of it is still on its way, as far as its keys know.
    pub(crate) fn drained(&mut self, now: Instant) -> Option<Flip> {
        let after = now.saturating_duration_since(self.since);
        if self.state != SlotState::Draining || after < DRAIN_SETTLES {
            return None;
        }
        let cause = self.cause.take();
        self.enter(SlotState::Drained, now, cause, None);
        Some(Flip::Drained { after })
    }
}
