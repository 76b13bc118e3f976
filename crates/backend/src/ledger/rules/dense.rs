//! Rules of dense counters.

use std::collections::BTreeSet;

use sequent_core::{
    Key,
    ledger::{DenseAsk, DenseTaken, Fence, NoteSubject},
};

use crate::ledger::{DenseCount, Records};

/// The notes of the fences that concern these asks.
pub(crate) fn fences(asks: &[DenseAsk]) -> BTreeSet<NoteSubject> {
    asks.iter().filter_map(|ask| Fence::of(&ask.key)).map(|fence| fence.about()).collect()
}

/// How many of the first asks touch at most `most` counters and fences, each counted once; at least one ask.
pub(crate) fn fitting(asks: &[DenseAsk], most: usize) -> usize {
    let (mut keys, mut fences) = (BTreeSet::new(), BTreeSet::new());
    for (at, ask) in asks.iter().enumerate() {
        if keys.insert(&ask.key) {
            fences.extend(Fence::of(&ask.key).map(|fence| fence.periods));
        }
        if keys.len() + fences.len() > most {
            return at.max(1);
        }
    }
    asks.len()
}

/// Answers asks in order. The version goes up if any number was given.
pub(crate) fn count(records: &mut Records, asks: &[DenseAsk]) -> Vec<DenseTaken> {
    asks.iter().map(|ask| count_one(records, ask)).collect()
}

fn count_one(records: &mut Records, ask: &DenseAsk) -> DenseTaken {
    if records.locked_dense.contains(&ask.key) {
        return DenseTaken::Locked;
    }
    let held = records.dense.get(&ask.key).copied();
    if held.is_none() && is_over(records, &ask.key) {
        return DenseTaken::Over;
    }
    let is_new = held.is_none();
    let begins = DenseCount { value: records.floor, begun_at_ms: records.clock_ms };
    let held = held.unwrap_or(begins);
    let taken = ask.of(held.value);
    if let DenseTaken::Last(last) = taken {
        records.dense.insert(ask.key.clone(), DenseCount { value: last, ..held });
        records.changes.dense.insert(ask.key.clone());
        if is_new {
            records.changes.begun_dense.insert(ask.key.clone());
        }
        records.raise_version();
    }
    taken
}

/// Whether a key's period has been deleted.
fn is_over(records: &Records, key: &Key) -> bool {
    Fence::of(key).is_some_and(|own| records.noted(&own.about()) >= own.to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_of_one_counter_fit_and_so_many_counters_do() {
        let ask = |at: usize| {
            let key = Key::from_stored(&format!("k{at}"));
            DenseAsk { key, count: 1, limit: u64::MAX, above: 0 }
        };
        let one: Vec<DenseAsk> = (0..4096).map(|_| ask(0)).collect();
        assert_eq!(fitting(&one, 100), 4096);
        let each_twice: Vec<DenseAsk> = (0..1000).map(|at| ask(at / 2)).collect();
        assert_eq!(fitting(&each_twice, 100), 200);
        assert_eq!(fitting(&[], 100), 0);
        assert_eq!(fitting(&each_twice, 0), 1, "one is tried, whatever it needs");
    }
}
