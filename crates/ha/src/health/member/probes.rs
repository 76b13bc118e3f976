//! Probes of a member that is out: who may probe it, and what the result means.

use std::time::Instant;

use sequent_core::{Action, ErrorKind, SourceError};

use super::{
    Member, PROBE_IDLE,
    events::{Cause, ProbeReason, Transition},
};
use crate::status::SlotState;

impl Member {
    /// How many probations have begun. The result of an operation from before one does not count after it.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// A token to probe the member with now, if it may be probed. The holder must report the result.
    pub(crate) fn begin_probe(&mut self, reason: ProbeReason) -> Option<u64> {
        let is_allowed = match self.state {
            SlotState::Probation => true,
            SlotState::Evicted => reason == ProbeReason::LastResort && !self.is_held_out(),
            _ => false,
        };
        if !is_allowed || self.probing.is_some() {
            return None;
        }
        if self.state == SlotState::Evicted {
            self.generation += 1;
        }
        self.probing = Some(self.generation);
        self.is_probe_slow = false;
        Some(self.generation)
    }

    /// The probe gave numbers.
    ///
    /// A slow probe passes only if no other member is live. Otherwise two slow members would be rescued and evicted in
    /// turns for ever.
    pub(crate) fn probe_passed(
        &mut self,
        token: u64,
        now: Instant,
        fraction: f64,
        is_last: bool,
    ) -> Option<Transition> {
        self.probing.take_if(|probing| *probing == token)?;
        self.answers_slowly = self.is_probe_slow;
        if self.is_probe_slow && !is_last {
            let detail = "answered the probe, but slowly".to_owned();
            return self.back_off(now, fraction, Cause { kind: ErrorKind::Timeout, why: None, detail });
        }
        self.enter(SlotState::Live, now, None, None);
        self.cause_before_command = None;
        self.window.clear();
        Some(Transition::Rescued { out: now.saturating_duration_since(self.left_at) })
    }

    /// The probe failed, and the slot is to blame.
    pub(crate) fn probe_failed(
        &mut self,
        token: u64,
        now: Instant,
        fraction: f64,
        error: &SourceError,
    ) -> Option<Transition> {
        self.probing.take_if(|probing| *probing == token)?;
        self.answers_slowly = false;
        if error.kind().verdict().action == Action::Quarantine {
            return self.quarantine(now, error.into());
        }
        let cause = self.cause_to_show(now, error);
        self.back_off(now, fraction, cause)
    }

    /// The probe decided nothing about the slot: another one is needed.
    pub(crate) fn probe_inconclusive(&mut self, token: u64, now: Instant) {
        if self.probing.take_if(|probing| *probing == token).is_some() {
            self.wait_for_probe(now);
        }
    }

    /// No key can probe the member now: it is due again after [`PROBE_IDLE`].
    pub(crate) fn wait_for_probe(&mut self, now: Instant) {
        if self.state == SlotState::Probation {
            self.due = Some(now + PROBE_IDLE);
        }
    }

    fn back_off(&mut self, now: Instant, fraction: f64, cause: Cause) -> Option<Transition> {
        if self.state != SlotState::Probation {
            // The probe was a last resort, before the member was due: its wait stays as it is.
            self.cause = Some(cause);
            return None;
        }
        let (kind, retry_after) = (cause.kind, self.backoff.next(fraction));
        self.enter(SlotState::Evicted, now, Some(cause), Some(now + retry_after));
        Some(Transition::ProbeFailed { kind, retry_after })
    }
}
