//! State of a failover that its calls and its check loop share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use sequent_core::{Env, SlotIndex};

use crate::{config::RingConfig, membership::Membership};

/// While no endpoint is live, all are tried together at most this often.
///
/// A call with a deadline then finds an endpoint that is back, and a dead one gets little load. The interval is shorter
/// than the ring's: a request to an endpoint costs no number, and callers of a ring have a reserve meanwhile.
pub(super) const TRY_ALL_EVERY: Duration = Duration::from_millis(100);

pub(super) struct State {
    pub(super) membership: Arc<Membership>,
    pub(super) endpoints: SlotIndex,
    /// The endpoint that is asked first.
    preferred: AtomicU16,
}

impl State {
    pub(super) fn new(endpoints: SlotIndex, config: RingConfig, env: Env) -> Self {
        let first = env.entropy.bits().checked_rem(u64::from(endpoints)).unwrap_or(0);
        let membership = Arc::new(Membership::new(config, env, &vec![true; usize::from(endpoints)]));
        let preferred = AtomicU16::new(SlotIndex::try_from(first).unwrap_or(0));
        Self { membership, endpoints, preferred }
    }

    pub(super) fn preferred(&self) -> SlotIndex {
        self.preferred.load(Ordering::Relaxed)
    }

    pub(super) fn prefer(&self, endpoint: SlotIndex) {
        if self.preferred() != endpoint {
            self.preferred.store(endpoint, Ordering::Relaxed);
        }
    }
}

impl Drop for State {
    /// Wakes the check loop, so that it ends.
    fn drop(&mut self) {
        self.membership.changed().notify_one();
    }
}
