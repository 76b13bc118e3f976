//! Rows of the ledger by key: how far a key's other slots are, and which counters have lost their row.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    Key, LedgerExamination, SlotIndex,
    ledger::{Counter, Row},
};

use crate::doctor::collect::ROWS_MAX;

/// The rows of counters that began, each with its counter.
pub(crate) type Rows = BTreeMap<Counter, Row>;

/// The rows whose cells are compared with them. No store knows yet of an epoch that an operator began.
pub(crate) fn rows_of(held: &LedgerExamination) -> Rows {
    held.rows.iter().filter(|(_, row)| !row.store.is_nobody()).cloned().collect()
}

/// The counters of a key in the other slots: the lowest of what their rows show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OtherSlots {
    /// The highest id that the row knows of.
    pub(crate) reached: u64,
    /// The base of the row's epoch.
    pub(crate) base: u64,
}

impl OtherSlots {
    fn lowest(self, other: Self) -> Self {
        Self { reached: self.reached.min(other.reached), base: self.base.min(other.base) }
    }
}

/// All rows of the ledger, by key.
#[derive(Debug, Default)]
pub(crate) struct KeyRows {
    begun: BTreeMap<Key, Vec<(SlotIndex, OtherSlots)>>,
    /// Counters that were only claimed or announced: they gave nothing.
    unbegun: BTreeSet<Counter>,
    /// Whether all rows were read. Otherwise it is unknown which counters have none.
    is_whole: bool,
}

impl KeyRows {
    pub(crate) fn of(rows: &[(Counter, Row)]) -> Self {
        let mut all = Self { is_whole: rows.len() < ROWS_MAX, ..Self::default() };
        for (counter, row) in rows {
            if row.is_unbegun() {
                all.unbegun.insert(counter.clone());
            } else {
                let shown = OtherSlots { reached: row.reached(), base: row.base };
                all.begun.entry(counter.key.clone()).or_default().push((counter.slot, shown));
            }
        }
        all
    }

    /// What the rows of the key's other slots show; `None` if it has none.
    pub(crate) fn others(&self, counter: &Counter) -> Option<OtherSlots> {
        let slots = self.begun.get(&counter.key)?.iter().filter(|(slot, _)| *slot != counter.slot);
        slots.map(|(_, shown)| *shown).reduce(OtherSlots::lowest)
    }

    /// Whether the ledger has no row under which the counter gave anything. False if not all rows were read.
    pub(crate) fn lacks(&self, counter: &Counter) -> bool {
        let slots = self.begun.get(&counter.key);
        self.is_whole && !slots.is_some_and(|slots| slots.iter().any(|(slot, _)| *slot == counter.slot))
    }

    /// Whether the counter has a row, and never began.
    pub(crate) fn is_unbegun(&self, counter: &Counter) -> bool {
        self.unbegun.contains(counter)
    }

    /// Every key that has a row in any slot.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.begun.keys().chain(self.unbegun.iter().map(|counter| &counter.key))
    }
}
