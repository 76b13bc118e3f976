//! Keys of a resize: those with counters of the old layout, and how far they are.

use std::collections::BTreeMap;

use sequent_core::{
    Key, Layout, Rule, Rules, SlotIndex,
    ledger::{Counter, LayoutChange, Row},
};

use super::KeyPlan;

/// A key's rows of the old layout, and the bases of its counters in the next one, as far as they are written.
type Held = (Vec<(SlotIndex, Row)>, Vec<(SlotIndex, u64)>);

/// The keys whose counters are not all written for the next layout yet.
pub(super) fn keys(change: &LayoutChange, rows: Vec<(Counter, Row)>, rules: Rules) -> Vec<KeyPlan> {
    let mut keys: BTreeMap<Key, Held> = BTreeMap::new();
    let marker = change.marker();
    for (Counter { slot, key }, row) in rows {
        let (before, begun) = keys.entry(key).or_default();
        if row.store == marker { begun.push((slot, row.ceiling)) } else { before.push((slot, row)) }
    }
    let layout = change.from.layout;
    // Some ledgers need several transactions for all slots of a key.
    let is_done = |before: &[_], begun: &[_]| {
        let is_whole = begun.len() == usize::from(change.next.layout.slots());
        // R23
        before.is_empty() && (is_whole || !rules.keep(Rule::ResizeCut))
    };
    let keys = keys.into_iter().filter(|(_, (before, begun))| !is_done(before, begun));
    let plan = |(key, (rows, begun)): (Key, Held)| {
        let begun = begun.into_iter().filter_map(|(slot, base)| before(change.next.layout, base, slot)).max();
        KeyPlan {
            key,
            taken: place(layout, &rows, |row| row.seen),
            last: place(layout, &rows, |row| row.ceiling).max(begun),
            begun,
            rows,
        }
    };
    keys.map(plan).collect()
}

/// The place before the first number of a counter that begins at `base`.
fn before(layout: Layout, base: u64, slot: SlotIndex) -> Option<u64> {
    layout.place_of(base.saturating_add(1), slot)?.checked_sub(layout.numbers_per_id())
}

/// The highest place among a key's rows, by the raw id that `of` returns.
pub(super) fn place(layout: Layout, rows: &[(SlotIndex, Row)], of: fn(&Row) -> u64) -> Option<u64> {
    rows.iter().filter_map(|(slot, row)| layout.place_of(of(row), *slot)).max()
}

#[cfg(test)]
mod tests {
    use sequent_core::{Epoch, InstanceId, ledger::LayoutRecord};

    use super::*;

    fn row(store: InstanceId, ceiling: u64) -> Row {
        let (epoch, ledger) = (Epoch::from_stored(1), InstanceId::new("l"));
        Row { epoch, store, ledger, base: 0, ceiling, seen: 0, opened_at_ms: 0 }
    }

    #[test]
    fn a_key_that_is_half_done_is_begun_above_what_its_new_rows_say_too() {
        let record = |n, generation| {
            let cluster = "x".parse().unwrap();
            LayoutRecord { cluster, layout: Layout::new(n, 0).unwrap(), generation }
        };
        let change = LayoutChange { from: record(0, 1), next: record(1, 2) };
        let before = |ceiling| (0, row(InstanceId::new("s"), ceiling));
        let next = |slot, base| (slot, row(change.marker(), base));
        let plan = |rows: &[(SlotIndex, Row)]| {
            let counter = |slot| Counter { slot, key: Key::from_stored("order") };
            let rows = rows.iter().map(|(slot, row)| (counter(*slot), row.clone())).collect();
            keys(&change, rows, Rules::ALL).pop().map(|key| key.last)
        };
        // Places count from 0: raw id 10 of a ring of one slot is the tenth number.
        assert_eq!(plan(&[before(10)]), Some(Some(9)));
        // Slot 1 would give raw id 6 next, the twelfth number, so the eleventh may have been given.
        assert_eq!(plan(&[before(10), next(1, 5)]), Some(Some(10)));
        assert_eq!(plan(&[before(30), next(1, 5)]), Some(Some(29)));
        assert_eq!(plan(&[next(1, 5)]), Some(Some(10)), "slot 0 has no row of either layout");
        assert_eq!(plan(&[next(0, 0)]), Some(None), "nothing was given");
        assert_eq!(plan(&[next(0, 5), next(1, 5)]), None, "it is done");
    }
}
