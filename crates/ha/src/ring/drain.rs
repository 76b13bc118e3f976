//! Draining: a slot is asked no more, and is out once every key has what it asked for.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::Duration,
};

use sequent_core::SlotIndex;

use super::{Ring, key::KeyRing, lane::Lane};
use crate::{SlotState, lock};

/// How often it is looked whether a draining slot still owes anything.
pub(super) const DRAIN_LOOK_EVERY: Duration = Duration::from_millis(100);

/// Keys looked through under one lock.
const PAGE: usize = 1024;

/// How far each draining slot has been looked through: the keys below owe nothing any more, since none of them asks
/// again. By slot and generation, for a rescue in between begins anew.
#[derive(Default)]
pub(super) struct Drains(BTreeMap<(SlotIndex, u64), u64>);

impl Drains {
    /// Has every slot out that owes nothing any more; whether one is left that does.
    pub(super) fn look(&mut self, ring: &Ring) -> bool {
        let snapshot = ring.roster.snapshot();
        let draining = snapshot.in_state(SlotState::Draining);
        let draining: Vec<_> = draining.map(|slot| (slot, snapshot.standing(slot).generation)).collect();
        self.0.retain(|slot, _| draining.contains(slot));
        for (slot, generation) in draining {
            let from = self.0.entry((slot, generation)).or_default();
            match ring.first_that_waits(slot, *from) {
                Some(key) => *from = key,
                None => ring.roster.drained(slot),
            }
        }
        ring.roster.snapshot().in_state(SlotState::Draining).next().is_some()
    }
}

impl Ring {
    /// The first key, from this one on, that waits for an answer of the slot.
    fn first_that_waits(&self, slot: SlotIndex, mut from: u64) -> Option<u64> {
        loop {
            let page: Vec<(u64, Weak<KeyRing>)> = {
                let keys = lock(&self.keys);
                keys.alive.range(from..).take(PAGE).map(|(id, key)| (*id, Weak::clone(key))).collect()
            };
            let waits = |key: Arc<KeyRing>| key.lane(slot).is_some_and(Lane::is_asked);
            let first = page.iter().find(|(_, key)| key.upgrade().is_some_and(waits));
            if first.is_some() || page.len() < PAGE {
                return first.map(|(id, _)| *id);
            }
            from = page.last()?.0 + 1;
        }
    }
}
