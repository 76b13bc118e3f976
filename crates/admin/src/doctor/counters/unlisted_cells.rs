//! Cells of keys that neither a row nor a definition names. Only the stores know them, so each store lists
//! its cells.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use sequent_core::{Key, LedgerExamination, SlotIndex, SourceError};
use sequent_engine::{bootstrap::FIRST_CALL_FACTOR, stores::Shard};

use super::{grouped, terms::Terms};
use crate::{
    ceiling_view::{Permitted, without_generation},
    cell_scan::{Extent, Pages, extent_of},
    doctor::{
        Doctor,
        collect::ROWS_MAX,
        findings::Kind,
        report::{Finding, Site},
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
    /// Lists cells in force whose keys have no row. If not all rows were read, none can be determined. Without
    /// fences, a period that is over looks like a lost row.
    pub(crate) async fn strays(&self, held: &LedgerExamination, terms: &Terms, shards: &[Shard]) -> Strays {
        let Terms { generation, floor, .. } = *terms;
        let Some(fences) = terms.fences.clone().filter(|_| held.rows.len() < ROWS_MAX) else {
            return Strays::default();
        };
        let known: BTreeSet<&Key> = held.rows.iter().map(|(counter, _)| &counter.key).collect();
        let rows = held.rows.iter().map(|(counter, row)| (counter.clone(), row.ceiling)).collect();
        let permitted = Arc::new(Permitted::held(rows, (generation, floor), fences));
        let stores = shards.iter().map(|shard| (shard.part.slot, Arc::clone(&shard.store)));
        let limit = self.limit() * FIRST_CALL_FACTOR;
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
        let untold =
            extent.untold.iter().map(|slot| (*slot, "this kind of store can't list cells".to_owned()));
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
        // A recovery left the floor, and had the operator confirm such cells.
        let before = self.before.get(&slot).filter(|_| self.floor == 0);
        let unseen = self.unseen.iter().filter(move |(of, _)| *of == slot).map(|(slot, cause)| {
            let found = format!("cells without a row were not all looked for: {cause}");
            Finding::new(Kind::NotExamined, Site::Slot(*slot), found)
        });
        before.and_then(|cells| lost(slot, cells)).into_iter().chain(unseen)
    }
}

/// The finding for cells of previous layouts whose keys have no row in the present one.
fn lost(slot: SlotIndex, cells: &[(Key, u64)]) -> Option<Finding> {
    let (cell, value) = cells.first()?;
    let text = format!(
        "its cell of a previous layout (generation {}) is at raw id {value} of that layout, and the ledger has no row of the key",
        cell.generation()
    );
    let counters = cells.iter().map(|(cell, _)| (without_generation(cell).to_string(), &*text));
    Some(grouped(Kind::CounterWithoutRow, slot, counters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_a_previous_layout_is_found_if_its_key_has_no_row_at_all() {
        let key = Key::from_stored;
        let cells = [("order", 900), ("bill", 7), ("order|~2", 5), ("young|~2", 3)];
        let rowless = cells.map(|(cell, value)| (key(cell), BTreeMap::from([(1, value)])));
        let mut extent = Extent::default();
        extent.rowless = rowless.into();
        let strays = Strays::of(&extent, 2, |key| key.as_str() == "bill");
        let found: Vec<Finding> = strays.findings(1).collect();
        assert_eq!((found.len(), found[0].kind), (1, Kind::CounterWithoutRow), "{found:?}");
        assert_eq!(found[0].keys, ["order"]);
        assert!(found[0].found.contains("(generation 1) is at raw id 900 of that layout"), "{found:?}");
        assert_eq!(strays.keys(1).map(Key::as_str).collect::<Vec<_>>(), ["order", "young"]);
        assert_eq!(strays.findings(0).count(), 0);
        let recovered = Strays { floor: 9, ..strays };
        assert_eq!(recovered.findings(1).count(), 0, "`recover` had them confirmed");
    }
}
