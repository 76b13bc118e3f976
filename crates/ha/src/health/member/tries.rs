//! Tries of a member that is out: by whom, and what their outcome means.

use std::time::Instant;

use sequent_core::{Action, ErrorKind, SourceError};

use super::{Cause, Claim, Flip, Member, PROBE_IDLE};
use crate::SlotState;

impl Member {
    /// How many rescues have begun: what was asked before one began says nothing about what comes after it.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// A token to try it with now, if it may be tried; whoever has it must report how that went.
    pub(crate) fn claim(&mut self, claim: Claim) -> Option<u64> {
        let allowed = match self.state {
            SlotState::Probation => true,
            SlotState::Evicted => claim == Claim::LastResort && !self.is_held(),
            _ => false,
        };
        if !allowed || self.probing.is_some() {
            return None;
        }
        if self.state == SlotState::Evicted {
            self.generation += 1;
        }
        self.probing = Some(self.generation);
        self.slow_probe = false;
        Some(self.generation)
    }

    /// The try gave numbers. Slowly is not enough where others serve, or two slow members would take turns for ever.
    pub(crate) fn pass(&mut self, token: u64, now: Instant, fraction: f64, last: bool) -> Option<Flip> {
        self.probing.take_if(|probing| *probing == token)?;
        self.answers = self.slow_probe;
        if self.slow_probe && !last {
            let detail = "answered the probe, but slowly".to_owned();
            return self.back_off(now, fraction, Cause { kind: ErrorKind::Timeout, why: None, detail });
        }
        self.enter(SlotState::Live, now, None, None);
        self.fault = None;
        self.window.clear();
        Some(Flip::Rescued { out: now.saturating_duration_since(self.left_at) })
    }

    /// The try failed by the slot's own fault.
    pub(crate) fn flunk(
        &mut self,
        token: u64,
        now: Instant,
        fraction: f64,
        error: &SourceError,
    ) -> Option<Flip> {
        self.probing.take_if(|probing| *probing == token)?;
        self.answers = false;
        if error.kind().verdict().action == Action::Quarantine {
            return self.quarantine(now, error.into());
        }
        let cause = self.own_word(now, error);
        self.back_off(now, fraction, cause)
    }

    /// The try said nothing about the slot: another one must.
    pub(crate) fn undecided(&mut self, token: u64, now: Instant) {
        if self.probing.take_if(|probing| *probing == token).is_some() {
            self.wait_for_probe(now);
        }
    }

    /// On probation, with nobody there who could try it: asks again in a while.
    pub(crate) fn wait_for_probe(&mut self, now: Instant) {
        if self.state == SlotState::Probation {
            self.due = Some(now + PROBE_IDLE);
        }
    }

    fn back_off(&mut self, now: Instant, fraction: f64, cause: Cause) -> Option<Flip> {
        if self.state != SlotState::Probation {
            // Tried ahead of its time, as a last resort: that must not push its time away.
            self.cause = Some(cause);
            return None;
        }
        let (kind, retry_after) = (cause.kind, self.backoff.next(fraction));
        self.enter(SlotState::Evicted, now, Some(cause), Some(now + retry_after));
        Some(Flip::ProbeFailed { kind, retry_after })
    }
}
