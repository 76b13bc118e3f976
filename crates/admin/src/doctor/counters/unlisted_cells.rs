//! Cells of keys that neither a row nor a definition names. Only the stores know them, so each store lists
//! its cells.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use sequent_core::{Key, LedgerExamination, SlotIndex, SourceError, ledger::Periods};
use sequent_engine::{bootstrap::FIRST_CALL_FACTOR, stores::Shard};

use super::meaning::KEYS_NAMED_MAX;
use crate::{
    ceiling_view::{Permitted, without_generation},
    cell_scan::{Extent, Pages, extent_of},
    doctor::{
        Doctor,
        collect::ROWS_MAX,
        report::{Finding, Severity, Site},
    },
};

/// How many pages of a store's cells are read. A page has some thousand cells, so about as many cells as rows
/// are examined.
const PAGES_MAX: usize = 16;

/// Cells without a row, as the stores list them.
#[derive(Debug, Default)]
pub(crate) struct Strays {
    keys: BTreeMap<SlotIndex, BTreeSet<Key>>,
    /// Cells of previous layouts whose keys have no row in any slot, each with its raw id.
    before: BTreeMap<SlotIndex, Vec<(Key, u64)>>,
    /// The floor that a recovery left: no counter without a row gives a raw id up to it.
    floor: u64,
    /// Why not all cells are known, by slot.
    unseen: Vec<(SlotIndex, String)>,
}

impl Doctor<'_> {
    /// Lists cells in force whose keys have no row. If not all rows were read, none can be determined.
    pub(crate) async fn strays(
        &self,
        held: &LedgerExamination,
        (generation, floor): (u64, u64),
        (shards, fences): (&[Shard], BTreeMap<Periods, u64>),
    ) -> Strays {
        if held.rows.len() >= ROWS_MAX {
            return Strays::default();
        }
        let known: BTreeSet<&Key> = held.rows.iter().map(|(counter, _)| &counter.key).collect();
        let rows = held.rows.iter().map(|(counter, row)| (counter.clone(), row.ceiling)).collect();
        let permitted = Arc::new(Permitted::held(rows, (generation, floor), fences));
        let stores = shards.iter().map(|shard| (shard.part.slot, Arc::clone(&shard.store)));
        let limit = self.config.ring.attempt_timeout * FIRST_CALL_FACTOR;
        let extent = extent_of(stores, Some(&permitted), Pages { most: PAGES_MAX, limit }).await;
        Strays { floor, ..Strays::of(&extent, generation, |key| known.contains(key)) }
    }
}

impl Strays {
    fn of(extent: &Extent, generation: u64, has_row: impl Fn(&Key) -> bool) -> Self {
        let mut keys: BTreeMap<SlotIndex, BTreeSet<Key>> = BTreeMap::new();
        let mut before: BTreeMap<SlotIndex, Vec<(Key, u64)>> = BTreeMap::new();
        for (cell, slots) in &extent.rowless {
            let key = without_generation(cell);
            for (slot, value) in slots {
                // Raw ids of another layout are other numbers. A key that has rows began above them.
                if cell.generation() == generation {
                    keys.entry(*slot).or_default().insert(key.clone());
                } else if !has_row(&key) {
                    before.entry(*slot).or_default().push((cell.clone(), *value));
                }
            }
        }
        let untold = extent.untold.iter().map(|slot| (*slot, "its kind of store lists no cells".to_owned()));
        let cut = extent.cut.iter().map(|slot| (*slot, "it holds more cells than are read".to_owned()));
        let unread = |(slot, error): &(SlotIndex, SourceError)| (*slot, error.to_string());
        let mut unseen: Vec<_> = untold.chain(cut).chain(extent.unread.iter().map(unread)).collect();
        if extent.is_partial {
            let more = |slot: &SlotIndex| (*slot, "more cells have no row than are looked at".to_owned());
            unseen.extend(keys.keys().map(more));
        }
        Self { keys, before, floor: 0, unseen }
    }

    /// The keys of such cells in a slot.
    pub(crate) fn keys(&self, slot: SlotIndex) -> impl Iterator<Item = &Key> {
        self.keys.get(&slot).into_iter().flatten()
    }

    /// Findings of a slot: cells of previous layouts, and what was not examined.
    pub(crate) fn findings(&self, slot: SlotIndex) -> impl Iterator<Item = Finding> {
        let before = self.before.get(&slot).and_then(|cells| lost(slot, cells, self.floor));
        before.into_iter().chain(self.unlooked(slot))
    }

    fn unlooked(&self, slot: SlotIndex) -> impl Iterator<Item = Finding> {
        let own = self.unseen.iter().filter(move |(of, _)| *of == slot);
        own.map(|(slot, cause)| {
            let found = format!("not all of its cells were looked for: {cause}");
            let causes =
                "a cell whose row is gone, of a key that no row and no definition names, is not found here";
            Finding::new(Severity::Info, Site::Slot(*slot), "counter", found).causes(causes)
        })
    }
}

/// The finding for cells of previous layouts whose keys have no row. Only the floor shows how far these keys
/// are, and raw ids of another layout can't be compared with it.
fn lost(slot: SlotIndex, cells: &[(Key, u64)], floor: u64) -> Option<Finding> {
    let (cell, value) = cells.first()?;
    let keys: Vec<String> =
        cells.iter().take(KEYS_NAMED_MAX).map(|(cell, _)| without_generation(cell).to_string()).collect();
    let what = format!(
        "its cell of a layout before (generation {}) is at raw id {value} of that layout, and the ledger has no row of the key",
        cell.generation()
    );
    let found = match cells.len() {
        1 => format!("counter {}: {what}", keys.concat()),
        count => format!("{count} counters; of the first, {}: {what}", keys[0]),
    };
    // A recovery's named loss covers these cells, too.
    let (severity, causes) = match floor {
        0 => (
            Severity::Error,
            "a hand deleted the rows, or the ledger was put back from a copy: numbers of it that were given come again",
        ),
        _ => (
            Severity::Warning,
            "a recovery named a loss, above which the key begins; where that layout had more bits (n + m) than the present one, \
             numbers of it come again unless the loss was that much greater",
        ),
    };
    let mend = "stop every server; put back the ledger's newest backup and `sequent recover`, or `sequent advance NAME TO`, TO above \
                the highest number of it that any caller has";
    let finding = Finding::new(severity, Site::Slot(slot), "counter", found).causes(causes).mend(mend);
    Some(Finding { keys, ..finding })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_a_layout_before_is_told_where_its_key_has_no_row_at_all() {
        let key = Key::from_stored;
        let cells = [("order", 900), ("bill", 7), ("order|~2", 5), ("young|~2", 3)];
        let rowless = cells.map(|(cell, value)| (key(cell), BTreeMap::from([(1, value)])));
        let mut extent = Extent::default();
        extent.rowless = rowless.into();
        let strays = Strays::of(&extent, 2, |key| key.as_str() == "bill");
        let found: Vec<Finding> = strays.findings(1).collect();
        assert_eq!((found.len(), found[0].severity), (1, Severity::Error), "{found:?}");
        assert_eq!(found[0].keys, ["order"]);
        assert!(found[0].found.contains("(generation 1) is at raw id 900 of that layout"), "{found:?}");
        assert_eq!(strays.keys(1).map(Key::as_str).collect::<Vec<_>>(), ["order", "young"]);
        assert_eq!(strays.findings(0).count(), 0);
        let recovered = Strays { floor: 9, ..strays };
        assert!(recovered.findings(1).all(|found| found.severity == Severity::Warning));
    }
}
