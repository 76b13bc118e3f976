//! The gauge of counters in quarantine. It stays until somebody has cleared them; a count of events would be over in a
//! moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sequent_core::{Event, Key, SlotIndex, ledger::SlotVerb};

use crate::status::report::QuarantineReport;

/// The most counters that are remembered: of more, a person knows enough.
const COUNTERS_MAX: usize = 4096;

/// The counters from which this process takes nothing before an operator has cleared their slot. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quarantined(Arc<Mutex<BTreeSet<(SlotIndex, Key)>>>);

impl Quarantined {
    /// A counter more, or a slot whose counters are tried again.
    pub(crate) fn hear(&self, event: &Event) {
        match event {
            Event::Quarantined { slot, key: Some(key), .. } => self.add(*slot, key.clone()),
            Event::Obeyed { slot, verb, .. } if *verb == SlotVerb::Rescue.as_str() => {
                self.held().retain(|(held, _)| held != slot);
            }
            _ => {}
        }
    }

    /// Those that a process of this data directory found before this one.
    pub(crate) fn recall(&self, notes: Vec<QuarantineReport>) {
        for note in notes {
            self.add(note.slot, Key::from_stored(&note.key));
        }
    }

    /// How many there are, by slot; slots without any are missing.
    pub(crate) fn by_slot(&self) -> BTreeMap<SlotIndex, u64> {
        let mut counts = BTreeMap::new();
        for (slot, _) in &*self.held() {
            *counts.entry(*slot).or_default() += 1;
        }
        counts
    }

    fn add(&self, slot: SlotIndex, key: Key) {
        let mut held = self.held();
        if held.len() < COUNTERS_MAX {
            held.insert((slot, key));
        }
    }

    fn held(&self) -> MutexGuard<'_, BTreeSet<(SlotIndex, Key)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::ErrorKind;

    use super::*;

    fn quarantined(slot: SlotIndex, key: Option<&str>) -> Event {
        let key = key.map(Key::from_stored);
        Event::Quarantined { slot, key, kind: ErrorKind::Leapt, condition: None, detail: String::new() }
    }

    fn obeyed(slot: SlotIndex, verb: SlotVerb) -> Event {
        Event::Obeyed { slot, verb: verb.as_str(), who: "ann".to_owned(), why: "mended".to_owned() }
    }

    #[test]
    fn a_counter_counts_once_until_its_slot_is_rescued() {
        let counters = Quarantined::default();
        for event in [
            quarantined(1, Some("order")),
            quarantined(1, Some("order")),
            quarantined(1, Some("invoice")),
            quarantined(2, Some("order")),
            // A slot as a whole has a state that says so.
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
