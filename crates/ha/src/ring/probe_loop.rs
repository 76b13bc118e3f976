//! The ring's background loop: due transitions, probes of slots that nobody asks, and draining.

use std::sync::{Arc, Weak};

use sequent_core::SlotIndex;
use tokio::sync::Notify;

use super::{
    drain::{DRAIN_CHECK_EVERY, DrainProgress},
    key::{KeyCounters, registry::KeyRegistry},
    shared::Shared,
    take::slot_request::{PROBE_IDS, SlotRequest},
};
use crate::{
    health::member::events::ProbeReason,
    membership::{probe_permit::ProbePermit, until_due},
};

/// How many of the newest keys are checked for one that can probe an idle slot.
const PROBE_KEYS_MAX: usize = 16;

/// Performs due transitions and probes slots that nobody asks, until the ring is gone.
pub(super) async fn run(shared: Weak<Shared>, keys: Arc<KeyRegistry<KeyCounters>>, changed: Arc<Notify>) {
    let mut drains = DrainProgress::default();
    loop {
        let Some(shared) = shared.upgrade() else { return };
        let (idle, wait) = shared.membership.tick();
        for slot in idle {
            probe_idle(&shared, &keys, slot);
        }
        let draining = drains.check(&shared, &keys).then_some(DRAIN_CHECK_EVERY);
        let wait = wait.into_iter().chain(draining).min();
        // A transition since `tick` may be due before `wait` ends; it notifies `changed`.
        drop(shared);
        until_due(&changed, wait).await;
    }
}

/// Takes one id of the newest key that can, and discards it. Without such a key, the slot stays on probation.
fn probe_idle(shared: &Arc<Shared>, keys: &KeyRegistry<KeyCounters>, slot: SlotIndex) {
    let membership = &shared.membership;
    let probe = |key| Some((ProbePermit::acquire(membership, slot, ProbeReason::Due)?, key));
    let Some((permit, key)) = key_for_probe(shared, keys, slot).and_then(probe) else {
        return membership.wait_for_probe(slot);
    };
    let generation = permit.generation();
    let floor = key.floor(&membership.snapshot(), slot, generation, true);
    let request = SlotRequest::new(key, (slot, generation), PROBE_IDS, floor, Some(permit));
    tokio::spawn(request.run_and_discard());
}

/// A key that can take an id from this slot, the newest first.
fn key_for_probe(
    shared: &Shared,
    keys: &KeyRegistry<KeyCounters>,
    slot: SlotIndex,
) -> Option<Arc<KeyCounters>> {
    let newest = keys.newest(PROBE_KEYS_MAX);
    let snapshot = shared.membership.snapshot();
    newest.iter().filter_map(Weak::upgrade).find(|key| key.can_ask(&snapshot, slot))
}
