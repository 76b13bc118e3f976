//! The right, and the duty, to try a slot that is out.

use std::sync::Arc;

use sequent_core::{Scope, SlotIndex, SourceError};

use crate::{health::Claim, roster::Roster};

/// One try of a slot, held by one task at a time. Dropped without a result, it says nothing about the slot.
pub(crate) struct Probe {
    roster: Arc<Roster>,
    slot: SlotIndex,
    token: u64,
    settled: bool,
}

impl Probe {
    pub(crate) fn claim(roster: &Arc<Roster>, slot: SlotIndex, claim: Claim) -> Option<Self> {
        let token = roster.claim(slot, claim)?;
        Some(Self { roster: Arc::clone(roster), slot, token, settled: false })
    }

    /// The slot's generation from here on.
    pub(crate) fn generation(&self) -> u64 {
        self.token
    }

    /// The first result counts. A failure that is not the slot's says nothing about it.
    pub(crate) fn settle<T>(&mut self, result: &Result<T, SourceError>) {
        if self.settled {
            return;
        }
        match result {
            Ok(_) => self.roster.passed(self.slot, self.token),
            Err(error) if error.kind().verdict().scope == Scope::Slot => {
                self.roster.flunked(self.slot, self.token, error);
            }
            Err(_) => self.roster.undecided(self.slot, self.token),
        }
        self.settled = true;
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if !self.settled {
            self.roster.undecided(self.slot, self.token);
        }
    }
}
