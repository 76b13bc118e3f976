//! Selection of the counters to examine, and the names of their cells.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{Examination, InstanceId, Key, Sight, SlotIndex, ledger::Counter};

use super::{
    rows::{KeyRows, Rows},
    terms::{Terms, is_over},
    unlisted_cells::Strays,
};
use crate::doctor::collect::{COUNTERS_MAX, Looked};

/// The counters whose cells are read, by slot.
pub(crate) type Selected = BTreeMap<SlotIndex, Vec<Counter>>;

/// The keys that rows or definitions name. A cell of such a key without a row is what a lost row leaves.
/// Periods that are over are excluded: their rows are forgotten, and nothing begins there again. Empty if it
/// is unknown which these are.
pub(crate) fn named(by_key: &KeyRows, terms: &Terms) -> BTreeSet<Key> {
    let Some(fences) = &terms.fences else { return BTreeSet::new() };
    let of_rows = by_key.keys().filter(|key| !is_over(key, fences));
    of_rows.chain(terms.defined.iter().take(COUNTERS_MAX)).cloned().collect()
}

/// The counters of a slot that have a row.
pub(crate) fn with_row(slot: SlotIndex, rows: &Rows) -> Vec<Counter> {
    rows.keys().filter(|counter| counter.slot == slot).take(COUNTERS_MAX).cloned().collect()
}

/// The counters of a slot: first those with a row, then those that only the store listed, then those named
/// elsewhere only.
pub(crate) fn select(
    slot: SlotIndex,
    (rows, by_key): (&Rows, &KeyRows),
    (strays, named): (&Strays, &BTreeSet<Key>),
) -> Vec<Counter> {
    let mut counters = with_row(slot, rows);
    let room = COUNTERS_MAX - counters.len();
    let listed: BTreeSet<&Key> = strays.keys(slot).collect();
    let rowless = strays.keys(slot).chain(named.iter().filter(|key| !listed.contains(key)));
    let rowless = rowless.map(|key| Counter { slot, key: key.clone() });
    counters.extend(rowless.filter(|counter| by_key.lacks(counter)).take(room));
    counters
}

/// The names of their cells under the layout in force.
pub(crate) fn cells_of(counters: &[Counter], generation: u64) -> Vec<Key> {
    counters.iter().map(|counter| counter.key.in_generation(generation)).collect()
}

/// Each selected counter of the stores that were read, with the store's instance and the cell.
pub(crate) fn cells<'a>(
    selected: &'a Selected,
    seen: &'a [(SlotIndex, Looked<Examination>)],
) -> impl Iterator<Item = (&'a InstanceId, &'a Counter, &'a Sight)> {
    seen.iter().flat_map(|(slot, looked)| {
        let read = looked.found.as_ref().ok().zip(selected.get(slot));
        read.into_iter().flat_map(|(found, counters)| {
            let cells = counters.iter().zip(&found.cells);
            cells.map(|(counter, sight)| (&found.inspection.instance, counter, sight))
        })
    })
}
