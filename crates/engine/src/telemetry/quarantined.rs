//! The gauge of counters in quarantine. It stays until an operator has cleared them; a count of events would soon be
//! out of view.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use sequent_core::{Event, Key, SlotIndex, ledger::SlotVerb, sync};

use crate::status::report::QuarantineReport;

/// Upper limit of the counters kept; beyond it, the exact number no longer matters.
const COUNTERS_MAX: usize = 4096;

/// The counters that this process does not use before an operator has cleared their slot. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quarantined(Arc<Mutex<BTreeSet<(SlotIndex, Key)>>>);

impl Quarantined {
    /// Adds a counter, or removes those of a slot that are tried again.
    pub(crate) fn hear(&self, event: &Event) {
        match event {
            Event::Quarantined { slot, key: Some(key), .. } => self.add(*slot, key.clone()),
            Event::SlotCommandDone { slot, verb, .. } if *verb == SlotVerb::Rescue.as_str() => {
                sync::lock(&self.0).retain(|(held, _)| held != slot);
            }
            _ => {}
        }
    }

    /// Adds the counters that an earlier process of this data directory found.
    pub(crate) fn recall(&self, notes: Vec<QuarantineReport>) {
        for note in notes {
            self.add(note.slot, Key::from_stored(&note.key));
        }
    }

    /// Number of counters by slot; slots without any are missing.
    pub(crate) fn by_slot(&self) -> BTreeMap<SlotIndex, u64> {
        let mut counts = BTreeMap::new();
        for (slot, _) in &*sync::lock(&self.0) {
            *counts.entry(*slot).or_default() += 1;
        }
        counts
    }

    fn add(&self, slot: SlotIndex, key: Key) {
        let mut held = sync::lock(&self.0);
        if held.len() < COUNTERS_MAX {
            held.insert((slot, key));
        }
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::ErrorKind;

    use super::*;

    fn quarantined(slot: SlotIndex, key: Option<&str>) -> Event {
        let key = key.map(Key::from_stored);
        Event::Quarantined { slot, key, kind: ErrorKind::Jumped, condition: None, detail: String::new() }
    }

    fn obeyed(slot: SlotIndex, verb: SlotVerb) -> Event {
        Event::SlotCommandDone { slot, verb: verb.as_str(), who: "ann".to_owned(), why: "mended".to_owned() }
    }

    #[test]
    fn a_counter_counts_once_until_its_slot_is_rescued() {
        let counters = Quarantined::default();
        for event in [
            quarantined(1, Some("order")),
            quarantined(1, Some("order")),
            quarantined(1, Some("invoice")),
            quarantined(2, Some("order")),
            // A quarantined slot has a state of its own.
            quarantined(3, None),
            obeyed(1, SlotVerb::Evict),
            obeyed(2, SlotVerb::Rescue),
        ] {
            counters.hear(&event);
        }
        assert_eq!(counters.by_slot(), BTreeMap::from([(1, 2)]));
    }

    #[test]
    fn no_more_are_remembered_than_the_bound_allows() {
        let counters = Quarantined::default();
        for at in 0..COUNTERS_MAX + 9 {
            counters.hear(&quarantined(0, Some(&format!("key{at}"))));
        }
        assert_eq!(counters.by_slot(), BTreeMap::from([(0, COUNTERS_MAX as u64)]));
    }
}
