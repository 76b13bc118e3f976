//! The highest id of each key in each slot, according to the ledger's rows.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    Key, SlotIndex,
    ledger::{Counter, Row},
};

use super::jumps::LEAP_MAX;
use crate::doctor::collect::ROWS_MAX;

/// The highest id of each counter, by its row.
#[derive(Debug, Default)]
pub(crate) struct Reaches {
    by_key: BTreeMap<Key, Vec<(SlotIndex, u64)>>,
    /// The base above which each counter's epoch began.
    begun: BTreeMap<Key, Vec<(SlotIndex, u64)>>,
    /// Counters that were only claimed or announced. Their rows do not show how far a key is. A cell of such
    /// a counter has lost its row.
    unbegun: BTreeSet<Counter>,
    /// Whether these are all rows of the ledger.
    is_whole: bool,
    /// The floor: no counter without a row gives a raw id up to it.
    pub(crate) floor: u64,
    /// How far epochs follow the key's other slots, by sequence.
    followed: BTreeMap<String, u64>,
}

impl Reaches {
    /// Built from all rows, including those of epochs that nobody has begun.
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

    /// The same, for a ledger in which counters without a row begin above a floor that a recovery left.
    pub(crate) fn above(self, floor: u64) -> Self {
        Self { floor, ..self }
    }

    /// The same, with the distance by which epochs of these sequences follow the key's other slots.
    pub(crate) fn following(self, followed: BTreeMap<String, u64>) -> Self {
        Self { followed, ..self }
    }

    /// How far above its row an epoch of this key may begin if only other slots bound it.
    pub(crate) fn followed(&self, key: &Key) -> u64 {
        self.followed.get(key.sequence()).copied().unwrap_or(LEAP_MAX)
    }

    /// The highest id of the key's other slots.
    pub(crate) fn beside(&self, counter: &Counter) -> Option<u64> {
        let others = self.by_key.get(&counter.key)?.iter().filter(|(slot, _)| *slot != counter.slot);
        others.map(|(_, reach)| *reach).max()
    }

    /// The lowest of the highest ids of the key's other slots: each of them is at least so far.
    pub(crate) fn least_beside(&self, counter: &Counter) -> Option<u64> {
        let others = self.by_key.get(&counter.key)?.iter().filter(|(slot, _)| *slot != counter.slot);
        others.map(|(_, reach)| *reach).min()
    }

    /// The lowest base among the epochs of the key's other slots.
    pub(crate) fn begun_beside(&self, counter: &Counter) -> u64 {
        let others = self.begun.get(&counter.key).into_iter().flatten();
        others.filter(|(slot, _)| *slot != counter.slot).map(|(_, base)| *base).min().unwrap_or(0)
    }

    /// Whether the ledger has no row of the counter at all.
    pub(crate) fn has_lost(&self, counter: &Counter) -> bool {
        self.lacks(counter) && !self.unbegun.contains(counter)
    }

    /// As [`least_beside`](Self::least_beside), for a counter whose row was lost. `None` for a counter that
    /// never began: it is behind nothing.
    pub(crate) fn least_beside_lost(&self, counter: &Counter) -> Option<u64> {
        self.least_beside(counter).filter(|_| !self.unbegun.contains(counter))
    }

    /// Whether the ledger has no row under which the counter gave anything. False if not all rows were read.
    pub(crate) fn lacks(&self, counter: &Counter) -> bool {
        let slots = self.by_key.get(&counter.key);
        self.is_whole && !slots.is_some_and(|slots| slots.iter().any(|(slot, _)| *slot == counter.slot))
    }

    /// Every key that has a row in any slot.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.by_key.keys().chain(self.unbegun.iter().map(|counter| &counter.key))
    }
}
