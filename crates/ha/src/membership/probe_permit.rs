//! The permit to probe a slot that is out, and the duty to report the result.

use std::sync::Arc;

use sequent_core::{Scope, SlotIndex, SourceError};

use super::Membership;
use crate::health::member::events::ProbeReason;

/// One probe of a slot, held by one task at a time. Dropped without a result, it changes nothing about the slot.
pub(crate) struct ProbePermit {
    membership: Arc<Membership>,
    slot: SlotIndex,
    token: u64,
    reported: bool,
}

impl ProbePermit {
    pub(crate) fn acquire(
        membership: &Arc<Membership>,
        slot: SlotIndex,
        reason: ProbeReason,
    ) -> Option<Self> {
        let token = membership.begin_probe(slot, reason)?;
        Some(Self { membership: Arc::clone(membership), slot, token, reported: false })
    }

    /// The slot's generation from here on.
    pub(crate) fn generation(&self) -> u64 {
        self.token
    }

    /// Reports a result; only the first one counts. A failure that does not concern the slot decides nothing.
    pub(crate) fn report<T>(&mut self, result: &Result<T, SourceError>) {
        if self.reported {
            return;
        }
        match result {
            Ok(_) => self.membership.probe_passed(self.slot, self.token),
            Err(error) if error.kind().verdict().scope == Scope::Slot => {
                self.membership.probe_failed(self.slot, self.token, error);
            }
            Err(_) => self.membership.probe_inconclusive(self.slot, self.token),
        }
        self.reported = true;
    }
}

impl Drop for ProbePermit {
    fn drop(&mut self) {
        if !self.reported {
            self.membership.probe_inconclusive(self.slot, self.token);
        }
    }
}
