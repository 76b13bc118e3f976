//! Operators' commands about a member: each is applied once, and stays in force until the next one or its end.

use std::time::{Duration, Instant};

use sequent_core::{
    ErrorKind, Why,
    ledger::{SlotCommand, SlotVerb},
};

use super::{
    Member, PROBE_IDLE,
    events::{Cause, Transition},
};
use crate::status::SlotState;

/// A take that read the snapshot just before a drain began has made its request by then.
const DRAIN_SETTLES: Duration = Duration::from_millis(100);

impl Member {
    pub(crate) fn command(&self) -> Option<&SlotCommand> {
        self.command.as_ref()
    }

    /// How often an operator has cleared this member's quarantine.
    pub(crate) fn clear_count(&self) -> u64 {
        self.clear_count
    }

    /// When the operator's command ends, in wall-clock milliseconds.
    pub(crate) fn command_ends_ms(&self) -> Option<u64> {
        self.command.as_ref().and_then(|command| command.until_ms)
    }

    /// Applies the command about this member, or releases it from the last one if there is none. The same command is
    /// applied once.
    pub(crate) fn apply_command(
        &mut self,
        now: Instant,
        wall_ms: u64,
        command: Option<&SlotCommand>,
    ) -> Option<Transition> {
        let command = command.filter(|command| command.until_ms.is_none_or(|until| until > wall_ms));
        if command.map(|command| command.at_ms) == self.command.as_ref().map(|command| command.at_ms) {
            return None;
        }
        let was_held_out = self.is_held_out();
        self.command = command.cloned();
        match command.map(|command| command.verb) {
            Some(SlotVerb::Evict) => command.and_then(|command| self.evict_by_command(now, command)),
            Some(SlotVerb::Drain) => command.and_then(|command| self.drain(now, command)),
            Some(SlotVerb::Rescue) => {
                self.clear_count += 1;
                (self.state != SlotState::Live).then(|| self.begin_probation(now, now))
            }
            None => (was_held_out && self.state != SlotState::Quarantined)
                .then(|| self.begin_probation(now, now + PROBE_IDLE)),
        }
    }

    /// Whether a command keeps it out.
    pub(super) fn is_held_out(&self) -> bool {
        self.command.as_ref().is_some_and(|command| command.verb != SlotVerb::Rescue)
    }

    fn evict_by_command(&mut self, now: Instant, command: &SlotCommand) -> Option<Transition> {
        self.probing = None;
        if matches!(self.state, SlotState::Quarantined | SlotState::Evicted) {
            return None;
        }
        self.take_out(SlotState::Evicted, now, command)
    }

    /// A drain takes the member out too, but awaits requests in flight, which an evicted member may have as well.
    ///
    /// It returns no eviction: the member is healthy, and the command itself is reported.
    fn drain(&mut self, now: Instant, command: &SlotCommand) -> Option<Transition> {
        self.probing = None;
        if matches!(self.state, SlotState::Quarantined | SlotState::Draining | SlotState::Drained) {
            return None;
        }
        self.take_out(SlotState::Draining, now, command);
        None
    }

    fn take_out(&mut self, state: SlotState, now: Instant, command: &SlotCommand) -> Option<Transition> {
        let was_in = matches!(self.state, SlotState::Live | SlotState::Probation);
        let own_cause = self.cause.take().filter(|cause| !cause.why.is_some_and(Why::is_by_word));
        self.cause_before_command =
            own_cause.map(|cause| cause.detail).or_else(|| self.cause_before_command.take());
        let before = self
            .cause_before_command
            .as_ref()
            .map(|cause| format!("; it was out before, for: {cause}"))
            .unwrap_or_default();
        let detail = format!("{} by {}: {}{before}", command.verb.as_str(), command.who, command.why);
        let why = if state == SlotState::Draining { Why::Draining } else { Why::EvictedByHand };
        let cause = Cause { kind: ErrorKind::Unavailable, why: Some(why), detail };
        self.leave_live(now);
        self.enter(state, now, Some(cause.clone()), None);
        was_in.then_some(Transition::Evicted { cause, retry_after: None })
    }

    /// No request to the member is in flight, as far as its keys know.
    pub(crate) fn drained(&mut self, now: Instant) -> Option<Transition> {
        let after = now.saturating_duration_since(self.since);
        if self.state != SlotState::Draining || after < DRAIN_SETTLES {
            return None;
        }
        let cause = self.cause.take();
        self.enter(SlotState::Drained, now, cause, None);
        Some(Transition::Drained { after })
    }
}
