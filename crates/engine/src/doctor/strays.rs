//! Cells of keys that no row and no definition names: only their stores know of them, so their stores are asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use sequent_core::{Key, LedgerExamination, SlotIndex, SourceError};

use super::{
    Doctor,
    look::ROWS_MAX,
    report::{Finding, Severity, Site},
};
use crate::{
    desk::{Extent, Pages, Permitted, extent_of, without_epoch},
    ground::FIRST_CALL_FACTOR,
    stores::Shard,
};

/// How many pages of a store's cells are read, of some thousand cells each: about as many cells as rows are looked at.
const PAGES_MAX: usize = 16;

/// What stores told of cells without a row.
#[derive(Debug, Default)]
pub(super) struct Strays {
    keys: BTreeMap<SlotIndex, BTreeSet<Key>>,
    /// Why not all of them are known, by slot.
    unseen: Vec<(SlotIndex, String)>,
}

impl Doctor<'_> {
    /// The keys of cells in force that have no row. Where not all rows were read nobody knows which these are.
    pub(super) async fn strays(
        &self,
        held: &LedgerExamination,
        (epoch, floor): (u64, u64),
        (shards, fences): (&[Shard], BTreeMap<Key, u64>),
    ) -> Strays {
        if held.rows.len() >= ROWS_MAX {
            return Strays::default();
        }
        let rows = held.rows.iter().map(|(counter, row)| (counter.clone(), row.ceiling)).collect();
        let permitted = Arc::new(Permitted::held(rows, (epoch, floor), fences));
        let stores = shards.iter().map(|shard| (shard.part.slot, Arc::clone(&shard.store)));
        let limit = self.config.ring.health.attempt_timeout * FIRST_CALL_FACTOR;
        let extent = extent_of(stores, Some(&permitted), Pages { most: PAGES_MAX, limit }).await;
        Strays::of(&extent, epoch)
    }
}

impl Strays {
    fn of(extent: &Extent, epoch: u64) -> Self {
        let mut keys: BTreeMap<SlotIndex, BTreeSet<Key>> = BTreeMap::new();
        // Raw ids of another layout are other numbers.
        for (cell, slots) in extent.rowless.iter().filter(|(cell, _)| cell.epoch() == epoch) {
            for slot in slots.keys() {
                keys.entry(*slot).or_default().insert(without_epoch(cell));
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
        Self { keys, unseen }
    }

    /// The keys of a slot.
    pub(super) fn keys(&self, slot: SlotIndex) -> impl Iterator<Item = &Key> {
        self.keys.get(&slot).into_iter().flatten()
    }

    /// What was not looked at in a slot.
    pub(super) fn findings(&self, slot: SlotIndex) -> impl Iterator<Item = Finding> {
        let own = self.unseen.iter().filter(move |(of, _)| *of == slot);
        own.map(|(slot, cause)| {
            let found = format!("not all of its cells were looked for: {cause}");
            let causes =
                "a cell whose row is gone, of a key that no row and no definition names, is not found here";
            Finding::new(Severity::Info, Site::Slot(*slot), "counter", found).causes(causes)
        })
    }
}
