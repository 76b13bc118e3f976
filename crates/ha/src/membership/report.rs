//! Reports about slots: slow and failed operations, results of probes, operators' commands.

use std::time::Duration;

use sequent_core::{Action, ErrorKind, Event, Scope, SlotIndex, SourceError, ledger::SlotCommand};

use super::{Membership, counts::Counts};
use crate::health::member::events::{Cause, ProbeReason};

impl Membership {
    /// An operation that began under `generation` was answered slowly.
    pub(crate) fn record_slow(&self, slot: SlotIndex, generation: u64, took: Duration) {
        self.count(slot, Counts::slow);
        let detail = format!("answered only after {} ms", took.as_millis());
        let cause = Cause { kind: ErrorKind::Timeout, why: None, detail };
        self.change(slot, |member, at| {
            (member.generation() == generation)
                .then(|| member.slow(at.now, at.fraction(), at.is_last, cause))?
        });
    }

    /// An operation that began under `generation` failed, as the store's decorator saw it.
    pub(crate) fn record_failure(&self, slot: SlotIndex, generation: u64, error: &SourceError) {
        self.count(slot, |counts| counts.failed(error.kind()));
        if error.kind().verdict().scope == Scope::Slot {
            self.apply_failure(slot, generation, error);
        }
    }

    /// Changes the slot's state by the error's verdict, without counting the failure.
    ///
    /// A failure from before a probation is ignored, unless it quarantines: the slot may repeat numbers.
    pub(crate) fn apply_failure(&self, slot: SlotIndex, generation: u64, error: &SourceError) {
        let quarantines = error.kind().verdict().action == Action::Quarantine;
        self.change(slot, |member, at| {
            (quarantines || member.generation() == generation)
                .then(|| member.fail(at.now, at.fraction(), error))?
        });
    }

    /// The slot could not be admitted at start.
    pub(crate) fn exclude(&self, slot: SlotIndex, error: &SourceError) {
        self.change(slot, |member, at| member.exclude(at.now, at.fraction(), error));
    }

    /// A token for probing the slot now, if it may be probed.
    pub(crate) fn begin_probe(&self, slot: SlotIndex, reason: ProbeReason) -> Option<u64> {
        let mut token = None;
        self.change(slot, |member, _| {
            token = member.begin_probe(reason);
            None
        });
        token
    }

    pub(crate) fn probe_passed(&self, slot: SlotIndex, token: u64) {
        self.change(slot, |member, at| member.probe_passed(token, at.now, at.fraction(), at.is_last));
        self.changed.notify_one();
    }

    /// Notifies even without a transition: after a failed last resort the slot is due again, and the probe loop has not
    /// watched it meanwhile.
    pub(crate) fn probe_failed(&self, slot: SlotIndex, token: u64, error: &SourceError) {
        self.change(slot, |member, at| member.probe_failed(token, at.now, at.fraction(), error));
        self.changed.notify_one();
    }

    pub(crate) fn probe_inconclusive(&self, slot: SlotIndex, token: u64) {
        self.change(slot, |member, at| {
            member.probe_inconclusive(token, at.now);
            None
        });
        self.changed.notify_one();
    }

    pub(crate) fn wait_for_probe(&self, slot: SlotIndex) {
        self.change(slot, |member, at| {
            member.wait_for_probe(at.now);
            None
        });
        self.changed.notify_one();
    }

    /// No request to the draining slot is in flight any more.
    pub(crate) fn drained(&self, slot: SlotIndex) {
        self.change(slot, |member, at| member.drained(at.now));
    }

    /// Applies the latest command about each slot. A slot without one is released from its last command.
    pub(crate) fn apply_commands(&self, commands: &[SlotCommand]) {
        let wall_ms = self.env.clock.wall_ms();
        for slot in self.slots() {
            let command =
                commands.iter().filter(|command| command.slot == slot).max_by_key(|command| command.at_ms);
            let mut new = None;
            self.change(slot, |member, at| {
                let was = member.command().map(|command| command.at_ms);
                let transition = member.apply_command(at.now, wall_ms, command);
                new = member.command().filter(|command| Some(command.at_ms) != was).cloned();
                transition
            });
            if let Some(SlotCommand { slot, verb, who, why, .. }) = new {
                self.env.events.emit(Event::SlotCommandDone { slot, verb: verb.as_str(), who, why });
            }
        }
    }
}
