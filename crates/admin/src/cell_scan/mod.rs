//! Scan of all reachable cells, compared with the ledger's ceilings. A recovery that names less than the
//! distance of a cell above its ceiling would repeat numbers.

mod check;
mod notes;
mod reached;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use sequent_core::{Key, SlotIndex, SourceError};

use crate::recover::since::BUMP_MAX;

pub(crate) use notes::{CANT_LIST, untold_line};
pub(crate) use reached::Reached;
pub(crate) use read::{Pages, extent_of};

/// How many cells that no bump covers are listed.
const FAR_NAMED_MAX: usize = 8;

/// How many of them are kept; the others are only counted.
const FAR_KEPT_MAX: usize = 1 << 10;

/// How many keys without rows, and how many above their ceilings, are kept for the plan.
const KEPT_MAX: usize = 1 << 12;

/// The values of some cells, by name and slot.
pub(crate) type Cells = BTreeMap<Key, BTreeMap<SlotIndex, u64>>;

/// The values of the cells of some stores.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    /// Whether the ledger has rows.
    pub(crate) has_rows: bool,
    /// For each generation, the cell with the highest bump that can still be named.
    highest: BTreeMap<u64, Reached>,
    /// Cells that need more than any bump.
    far: Vec<Reached>,
    /// How many more of these there are.
    far_more: usize,
    /// Cells without a row.
    pub(crate) rowless: Cells,
    /// Cells above their ceilings.
    pub(crate) ahead: Cells,
    /// Whether there are more of either.
    pub(crate) is_partial: bool,
    /// Slots whose kind of store lists no cells.
    pub(crate) untold: Vec<SlotIndex>,
    /// Slots whose stores have more cells than were read.
    pub(crate) cut: Vec<SlotIndex>,
    /// Slots whose stores could not be read completely, each with the cause.
    pub(crate) unread: Vec<(SlotIndex, SourceError)>,
}

impl Extent {
    /// The cell that needs the highest bump, among those that a bump can cover.
    pub(crate) fn furthest(&self) -> Option<&Reached> {
        self.highest.values().max_by_key(|cell| cell.least())
    }

    /// The least bump that covers it.
    pub(crate) fn least(&self) -> u64 {
        self.furthest().map_or(0, Reached::least)
    }

    /// The cells with rows that no bump covers, up to the number that is listed.
    pub(crate) fn far(&mut self) -> impl Iterator<Item = &mut Reached> {
        self.far.iter_mut().filter(|cell| cell.has_row).take(FAR_NAMED_MAX)
    }

    /// Adds a cell.
    fn meet(&mut self, cell: Reached) {
        if !cell.has_row && cell.value > 0 {
            self.is_partial |= !kept(&mut self.rowless, cell.key.clone(), cell.slot, cell.value);
        } else if (1..=BUMP_MAX).contains(&cell.least()) {
            self.is_partial |= !kept(&mut self.ahead, cell.key.clone(), cell.slot, cell.value);
        }
        if cell.least() > BUMP_MAX {
            return match self.far.len() {
                FAR_KEPT_MAX.. => self.far_more += 1,
                _ => self.far.push(cell),
            };
        }
        let generation = cell.key.generation();
        if self.highest.get(&generation).is_none_or(|highest| highest.least() < cell.least()) {
            self.highest.insert(generation, cell);
        }
    }

    /// Adds the cells and slots of another extent.
    fn add(&mut self, other: Self) {
        let cells = other.highest.into_values().chain(other.far);
        cells.for_each(|cell| self.meet(cell));
        for (cells, more) in [(&mut self.rowless, other.rowless), (&mut self.ahead, other.ahead)] {
            for (key, slots) in more {
                for (slot, value) in slots {
                    self.is_partial |= !kept(cells, key.clone(), slot, value);
                }
            }
        }
        self.far_more += other.far_more;
        self.is_partial |= other.is_partial;
        self.untold.extend(other.untold);
        self.cut.extend(other.cut);
        self.unread.extend(other.unread);
    }

    /// Sorts by slot, so that the order of answers does not matter.
    fn sort(&mut self) {
        self.far.sort_by_key(|cell| (cell.slot, cell.key.clone()));
        self.untold.sort_unstable();
        self.cut.sort_unstable();
        self.unread.sort_by_key(|(slot, _)| *slot);
    }
}

/// Adds a cell to these; false if there are too many.
fn kept(cells: &mut Cells, key: Key, slot: SlotIndex, value: u64) -> bool {
    if cells.len() >= KEPT_MAX && !cells.contains_key(&key) {
        return false;
    }
    cells.entry(key).or_default().insert(slot, value);
    true
}
