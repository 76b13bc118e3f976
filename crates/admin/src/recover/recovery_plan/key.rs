//! Plan for one key: the last number before, the first one after, and how many are skipped.

use std::collections::BTreeMap;

use sequent_core::{
    Key, Layout, SlotIndex, Span,
    ledger::{DenseRow, Loss, Row},
};
use sequent_engine::dense_number;
use serde::Serialize;

use crate::{ceiling_view::without_generation, cell_scan::Cells};

/// The numbers that a key's counters would skip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedKey {
    /// The sequence.
    pub sequence: String,
    /// The key.
    pub key: String,
    /// The highest number that was given before, as far as servers have reported and cells show. Absent if
    /// none.
    pub last_before: Option<u64>,
    /// The lowest number that any of its counters may give after. Absent if none is left.
    pub first_after: Option<u64>,
    /// The lowest number that the ledger's row permits again although a cell shows that it was given. Absent
    /// if none.
    pub given_before: Option<u64>,
    /// How many numbers all its counters together would skip.
    pub skipped: u64,
}

pub(super) fn raised(loss: Loss, ceiling: u64) -> u64 {
    match loss {
        Loss::Moved => ceiling,
        Loss::Bump(ids) => ceiling.saturating_add(ids),
    }
}

/// A counter's position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stand {
    /// The raw id that it is known to have reached …
    at: u64,
    /// … and its ceiling.
    ceiling: u64,
    /// The value of its cell, if that is above the ceiling; otherwise 0.
    cell: u64,
}

impl Stand {
    pub(super) fn of(row: &Row) -> Self {
        Self { at: row.reached(), ceiling: row.ceiling, cell: 0 }
    }

    /// The same, with a cell above its ceiling.
    pub(super) fn beside(self, cell: u64) -> Self {
        Self { at: self.at.max(cell), cell, ..self }
    }
}

/// The positions of counters with a cell of this generation and no row. They begin above floor and loss, and
/// never below their cells.
pub(super) fn stands(
    rowless: &Cells,
    generation: u64,
    (floor, loss): (u64, Loss),
) -> BTreeMap<Key, BTreeMap<SlotIndex, Stand>> {
    let bump = raised(loss, 0);
    let stand = |at: u64| Stand { at, ceiling: floor.max(at.saturating_sub(bump)), cell: 0 };
    let own = rowless.iter().filter(|(cell, _)| cell.generation() == generation);
    let slots =
        |slots: &BTreeMap<SlotIndex, u64>| slots.iter().map(|(slot, at)| (*slot, stand(*at))).collect();
    own.map(|(cell, at)| (without_generation(cell), slots(at))).collect()
}

pub(super) fn of_rows(
    key: &Key,
    span: Span,
    layout: Layout,
    (rows, loss): (&BTreeMap<SlotIndex, Stand>, Loss),
) -> PlannedKey {
    let number = |place: u64| span.number_at(layout, place);
    let given = rows.iter().filter_map(|(slot, row)| layout.place_of(row.at, *slot));
    let permitted = |slot: SlotIndex| raised(loss, rows.get(&slot).map_or(0, |row| row.ceiling));
    let cell = |slot: SlotIndex| rows.get(&slot).map_or(0, |row| row.cell);
    // A new epoch also begins above its cell.
    let after = |slot: SlotIndex| permitted(slot).max(cell(slot));
    let above = |at: u64, slot: SlotIndex| {
        let last = layout.place_of(at.checked_add(1)?, slot)?;
        Some(last - (layout.numbers_per_id() - 1))
    };
    let given_before = (0..layout.slots()).filter(|slot| cell(*slot) > permitted(*slot));
    let given_before = given_before.filter_map(|slot| above(permitted(slot), slot)).min();
    let skipped = (0..layout.slots()).fold(0_u64, |all, slot| {
        let from = rows.get(&slot).map_or(0, |row| row.at);
        all.saturating_add(after(slot).saturating_sub(from).saturating_mul(layout.numbers_per_id()))
    });
    let first = (0..layout.slots()).filter_map(|slot| above(after(slot), slot)).min().map(number);
    PlannedKey {
        sequence: key.sequence().to_owned(),
        key: key.to_string(),
        last_before: given.max().map(number),
        first_after: first.filter(|first| *first <= span.limit()),
        given_before: given_before.map(number),
        skipped,
    }
}

pub(super) fn of_dense(row: &DenseRow, span: Span, loss: Loss) -> PlannedKey {
    let after = raised(loss, row.value);
    let first =
        after.checked_add(1).filter(|next| *next <= span.capacity()).map(|next| dense_number(span, next));
    PlannedKey {
        sequence: row.key.sequence().to_owned(),
        key: row.key.to_string(),
        last_before: (row.value > 0).then(|| dense_number(span, row.value)),
        first_after: first,
        given_before: None,
        skipped: after - row.value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Epoch, InstanceId};

    fn row(base: u64, seen: u64, ceiling: u64) -> Stand {
        let (store, ledger) = (InstanceId::new("s"), InstanceId::new("l"));
        Stand::of(&Row { epoch: Epoch::from_stored(9), store, ledger, base, ceiling, seen, opened_at_ms: 0 })
    }

    #[test]
    fn a_cell_without_a_row_begins_above_floor_and_loss_and_never_below_itself() {
        let rowless = Cells::from([
            (Key::from_stored("order|~2"), BTreeMap::from([(0, 500), (1, 90)])),
            (Key::from_stored("old"), BTreeMap::from([(0, 7)])),
        ]);
        let found = stands(&rowless, 2, (40, Loss::Bump(100)));
        assert_eq!(found.keys().collect::<Vec<_>>(), [&Key::from_stored("order")]);
        let after = |slot| raised(Loss::Bump(100), found[&Key::from_stored("order")][&slot].ceiling);
        assert_eq!((after(0), after(1)), (500, 140));
    }

    #[test]
    fn what_is_left_out_is_told_in_numbers() {
        let (key, layout) = (Key::from_stored("order"), Layout::new(1, 0).unwrap());
        let rows = BTreeMap::from([(0, row(0, 10, 12)), (1, row(0, 9, 20))]);
        let plan = of_rows(&key, Span::default(), layout, (&rows, Loss::Bump(100)));
        // Raw id 10 of slot 0 is the highest that was given; 113 of slot 0 is the lowest that may be given.
        let number = |raw, slot| layout.encode(raw, slot).unwrap() - layout.encode(1, 0).unwrap() + 1;
        assert_eq!(plan.last_before, Some(number(10, 0)), "{plan:?}");
        assert_eq!(plan.first_after, Some(number(113, 0)), "{plan:?}");
        assert_eq!(plan.skipped, 102 + 111);
        let moved = of_rows(&key, Span::default(), layout, (&rows, Loss::Moved));
        assert_eq!((moved.first_after, moved.skipped), (Some(number(13, 0)), 2 + 11), "{moved:?}");
    }

    #[test]
    fn a_cell_above_its_ceiling_shows_what_was_given() {
        let (key, layout) = (Key::from_stored("order"), Layout::new(1, 0).unwrap());
        let rows = BTreeMap::from([(0, row(0, 10, 12).beside(500)), (1, row(0, 9, 20))]);
        let number = |raw, slot| layout.encode(raw, slot).unwrap() - layout.encode(1, 0).unwrap() + 1;
        let moved = of_rows(&key, Span::default(), layout, (&rows, Loss::Moved));
        assert_eq!(moved.given_before, Some(number(13, 0)), "{moved:?}");
        assert_eq!(
            (moved.last_before, moved.first_after),
            (Some(number(500, 0)), Some(number(21, 1))),
            "{moved:?}"
        );
        let bump = of_rows(&key, Span::default(), layout, (&rows, Loss::Bump(488)));
        assert_eq!((bump.given_before, bump.first_after), (None, Some(number(501, 0))), "{bump:?}");
    }

    #[test]
    fn a_slot_without_a_row_begins_above_the_loss_alone() {
        let (key, layout) = (Key::from_stored("order"), Layout::new(1, 0).unwrap());
        let rows = BTreeMap::from([(0, row(0, 1000, 1000))]);
        let plan = of_rows(&key, Span::default(), layout, (&rows, Loss::Bump(5)));
        let number = |raw, slot| layout.encode(raw, slot).unwrap() - layout.encode(1, 0).unwrap() + 1;
        assert_eq!(plan.first_after, Some(number(6, 1)), "{plan:?}");
    }

    #[test]
    fn a_dense_counter_skips_what_is_named() {
        let row = DenseRow { key: Key::from_stored("invoice"), value: 7, begun_at_ms: 0 };
        let plan = of_dense(&row, Span::default(), Loss::Bump(100));
        assert_eq!((plan.last_before, plan.first_after, plan.skipped), (Some(7), Some(108), 100));
    }
}
