//! The ring's own clockwork: what is due when nobody asks.

use std::sync::{Arc, Weak};

use sequent_core::SlotIndex;
use tokio::{sync::Notify, time::sleep};

use super::{
    Ring,
    ask::Ask,
    drain::{DRAIN_LOOK_EVERY, Drains},
    probe::Probe,
    refill::PROBE_IDS,
};
use crate::health::Claim;

/// Flips what is due, and has slots that nobody asks try themselves, until the ring is gone.
pub(super) async fn run(ring: Weak<Ring>, changed: Arc<Notify>) {
    let mut drains = Drains::default();
    loop {
        let Some(ring) = ring.upgrade() else { return };
        let (idle, wait) = ring.roster.tick();
        for slot in idle {
            try_idle(&ring, slot);
        }
        let draining = drains.look(&ring).then_some(DRAIN_LOOK_EVERY);
        let wait = wait.into_iter().chain(draining).min();
        // What was just begun may be due sooner than what was known before it.
        drop(ring);
        match wait {
            None => changed.notified().await,
            Some(wait) => tokio::select! {
                () = changed.notified() => {}
                () = sleep(wait) => {}
            },
        }
    }
}

/// Takes one id of the newest key that can, and burns it; without such a key, waits on.
fn try_idle(ring: &Arc<Ring>, slot: SlotIndex) {
    let probe = |key| Some((Probe::claim(&ring.roster, slot, Claim::Due)?, key));
    let Some((probe, key)) = ring.key_for_probe(slot).and_then(probe) else {
        return ring.roster.wait_for_probe(slot);
    };
    let generation = probe.generation();
    let floor = key.floor(&ring.roster.snapshot(), slot, generation, true);
    tokio::spawn(Ask::new(key, (slot, generation), PROBE_IDS, floor, Some(probe)).burn());
}
