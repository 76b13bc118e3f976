//! Draining: a slot is asked no more, and is drained once no key has a request in flight to it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use sequent_core::SlotIndex;

use super::{
    key::{KeyCounters, registry::KeyRegistry, slot_counter::SlotCounter},
    shared::Shared,
};
use crate::status::SlotState;

/// How often draining slots are checked for requests in flight.
pub(super) const DRAIN_CHECK_EVERY: Duration = Duration::from_millis(100);

/// Keys read under one lock.
const PAGE: usize = 1024;

/// How far the keys of each draining slot have been checked. No key before that has a request in flight, and none of
/// them asks again.
///
/// By slot and generation: after a rescue in between, the check starts anew.
#[derive(Default)]
pub(super) struct DrainProgress(BTreeMap<(SlotIndex, u64), u64>);

impl DrainProgress {
    /// Marks every slot as drained that has no request in flight; returns whether a slot is still draining.
    pub(super) fn check(&mut self, shared: &Shared, keys: &KeyRegistry<KeyCounters>) -> bool {
        let snapshot = shared.membership.snapshot();
        let draining = snapshot.in_state(SlotState::Draining);
        let draining: Vec<_> = draining.map(|slot| (slot, snapshot.slot(slot).generation)).collect();
        self.0.retain(|slot, _| draining.contains(slot));
        for (slot, generation) in draining {
            let from = self.0.entry((slot, generation)).or_default();
            match first_waiting(keys, slot, *from) {
                Some(key) => *from = key,
                None => shared.membership.drained(slot),
            }
        }
        shared.membership.snapshot().in_state(SlotState::Draining).next().is_some()
    }
}

/// The first key, from this id on, with a request in flight to the slot.
fn first_waiting(keys: &KeyRegistry<KeyCounters>, slot: SlotIndex, mut from: u64) -> Option<u64> {
    loop {
        let page = keys.page(from, PAGE);
        let is_waiting =
            |key: Arc<KeyCounters>| key.counter(slot).is_some_and(SlotCounter::has_request_in_flight);
        let first = page.iter().find(|(_, key)| key.upgrade().is_some_and(is_waiting));
        if first.is_some() || page.len() < PAGE {
            return first.map(|(id, _)| *id);
        }
        from = page.last()?.0 + 1;
    }
}
