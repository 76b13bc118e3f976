//! The highest id of each key in each slot, by the ledger's rows.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    Key, SlotIndex,
    ledger::{Counter, Row},
};

use super::jumps::LEAP_MAX;
use crate::doctor::collect::ROWS_MAX;

/// How far each counter is, by its row.
#[derive(Debug, Default)]
pub(crate) struct Reaches {
    by_key: BTreeMap<Key, Vec<(SlotIndex, u64)>>,
    /// Above what its epoch began.
    begun: BTreeMap<Key, Vec<(SlotIndex, u64)>>,
    /// Those that were claimed or announced alone: they say nothing of how far a key is, and a cell of theirs has lost its row.
    unbegun: BTreeSet<Counter>,
    /// Whether these are all rows that the ledger has.
    is_whole: bool,
    /// Up to which raw id no counter without a row gives anything.
    pub(crate) floor: u64,
    /// How far epochs follow other slots, by sequence.
    followed: BTreeMap<String, u64>,
}

impl Reaches {
    /// Of all rows, those of epochs that nobody has begun among them.
    pub(crate) fn of(rows: &[(Counter, Row)]) -> Self {
        let mut by_key: BTreeMap<Key, Vec<(SlotIndex, u64)>> = BTreeMap::new();
        for (counter, row) in rows.iter().filter(|(_, row)| !row.is_unbegun()) {
            by_key.entry(counter.key.clone()).or_default().push((counter.slot, row.reached()));
        }
        let mut begun: BTreeMap<Key, Vec<(SlotIndex, u64)>> = BTreeMap::new();
        for (counter, row) in rows.iter().filter(|(_, row)| !row.is_unbegun()) {
            begun.entry(counter.key.clone()).or_default().push((counter.slot, row.base));
        }
        let unbegun = rows.iter().filter(|(_, row)| row.is_unbegun()).map(|(counter, _)| counter.clone());
        Self { by_key, begun, unbegun: unbegun.collect(), is_whole: rows.len() < ROWS_MAX, ..Self::default() }
    }

    /// The same where counters without a row begin above a floor that a recovery left.
    pub(crate) fn above(self, floor: u64) -> Self {
        Self { floor, ..self }
    }

    /// The same where epochs of these sequences follow the key's other slots so far.
    pub(crate) fn following(self, followed: BTreeMap<String, u64>) -> Self {
        Self { followed, ..self }
    }

    /// How far above its row an epoch of this key may begin that has nothing but other slots to go by.
    pub(crate) fn followed(&self, key: &Key) -> u64 {
        self.followed.get(key.sequence()).copied().unwrap_or(LEAP_MAX)
    }

    /// The furthest of the key's other slots.
    pub(crate) fn beside(&self, counter: &Counter) -> Option<u64> {
        let others = self.by_key.get(&counter.key)?.iter().filter(|(slot, _)| *slot != counter.slot);
        others.map(|(_, reach)| *reach).max()
    }

    /// How far each of the key's other slots is at least.
    pub(crate) fn least_beside(&self, counter: &Counter) -> Option<u64> {
        let others = self.by_key.get(&counter.key)?.iter().filter(|(slot, _)| *slot != counter.slot);
        others.map(|(_, reach)| *reach).min()
    }

    /// Above what the epoch of the one of the key's other slots did that began lowest.
    pub(crate) fn begun_beside(&self, counter: &Counter) -> u64 {
        let others = self.begun.get(&counter.key).into_iter().flatten();
        others.filter(|(slot, _)| *slot != counter.slot).map(|(_, base)| *base).min().unwrap_or(0)
    }

    /// Whether the ledger has no row of it at all.
    pub(crate) fn has_lost(&self, counter: &Counter) -> bool {
        self.lacks(counter) && !self.unbegun.contains(counter)
    }

    /// How far each of the key's other slots is at least, where its row was lost: one that never began is behind nothing.
    pub(crate) fn least_beside_lost(&self, counter: &Counter) -> Option<u64> {
        self.least_beside(counter).filter(|_| !self.unbegun.contains(counter))
    }

    /// Whether the ledger has no row of it under which anything was given; of more rows than were read nobody knows.
    pub(crate) fn lacks(&self, counter: &Counter) -> bool {
        let slots = self.by_key.get(&counter.key);
        self.is_whole && !slots.is_some_and(|slots| slots.iter().any(|(slot, _)| *slot == counter.slot))
    }

    /// Every key that has a row in any slot.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.by_key.keys().chain(self.unbegun.iter().map(|counter| &counter.key))
    }
}
