//! Nonces: each call that writes leaves one, so that a ledger that went back lacks it.

use std::collections::VecDeque;

use sequent_core::{InstanceId, ledger::Pass};

use super::LedgerClient;

/// The most nonces that the ledger may hold: the last acknowledged one, and those of later calls whose outcome is unknown.
///
/// If there are more, those in the middle are dropped. The ledger holds the first one if it got none of the calls, one of the
/// next if it failed after that, or one of the last if only replies are lost.
const NONCES_MAX: usize = 16;

/// The parts of a pass.
pub(super) struct Shown {
    pub(super) under: InstanceId,
    pub(super) record: Option<InstanceId>,
    pub(super) nonces: Vec<u64>,
}

impl LedgerClient {
    /// The pass of the next call, which leaves the nonce `next`.
    pub(super) fn offer(&self, next: u64) -> Shown {
        let mut state = self.state();
        let nonces: Vec<u64> = state.nonces.iter().copied().collect();
        if state.nonces.len() == NONCES_MAX {
            state.nonces.remove(NONCES_MAX / 2);
            state.some_dropped = true;
        }
        state.nonces.push_back(next);
        Shown { under: state.instance.clone(), record: state.record.clone(), nonces }
    }

    pub(super) fn pass<'a>(&self, shown: &'a Shown, next: u64) -> Pass<'a> {
        let Shown { under, record, nonces } = shown;
        Pass {
            under,
            record: record.as_ref(),
            server: self.server,
            nonces,
            next,
            generation: self.layout.generation,
        }
    }

    pub(super) fn acknowledged(&self, nonce: u64, version: u64) {
        let mut state = self.state();
        state.nonces = VecDeque::from([nonce]);
        state.some_dropped = false;
        state.version = state.version.max(version);
        self.is_back(state);
    }
}
