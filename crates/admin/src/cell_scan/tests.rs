//! The bump that cells need, cells that no bump covers, and the notes about both.

use std::collections::BTreeSet;

use sequent_core::ErrorKind;

use super::*;

fn of(cells: &[(SlotIndex, &str, u64)]) -> Extent {
    let mut extent = Extent::default();
    for (slot, key, value) in cells {
        extent.meet(Reached::bare(*slot, Key::from_stored(key), *value));
    }
    extent
}

fn refused(extent: &Extent, bump: u64) -> String {
    extent.check(bump, &BTreeSet::new()).unwrap_err().to_string()
}

#[test]
fn a_bump_below_a_cell_is_refused_with_the_least_that_is_not() {
    let extent = of(&[(0, "order", 9), (1, "order", 10_000_000), (2, "invoice|~2", 4)]);
    let error = refused(&extent, 5);
    assert!(error.contains("slot 1 the cell of key order is at raw id 10000000"), "{error}");
    assert!(error.contains("`sequent recover --bump 10000000`"), "{error}");
    refused(&extent, 9_999_999);
    assert_eq!(extent.check(10_000_000, &BTreeSet::new()).unwrap(), Vec::<String>::new());
}

#[test]
fn each_cell_is_held_against_its_own_ceiling_and_one_without_a_row_against_the_floor() {
    let cell = |key: &str, value, ceiling, has_row| Reached {
        slot: 1,
        key: Key::from_stored(key),
        value,
        ceiling,
        has_row,
        reach: None,
    };
    let mut extent = Extent { has_rows: true, ..Extent::default() };
    for cell in [cell("far", 1 << 40, 1 << 40, true), cell("order", 25_000, 900, true)] {
        extent.meet(cell);
    }
    let error = refused(&extent, 24_099);
    assert!(error.contains("slot 1 the cell of key order is at raw id 25000, and its ceiling"), "{error}");
    assert!(error.contains("is 900") && error.contains("`sequent recover --bump 24100`"), "{error}");
    assert_eq!(extent.check(24_100, &BTreeSet::new()).unwrap(), Vec::<String>::new());
    assert!(extent.warnings(1).is_empty() && extent.rowless.is_empty());
    extent.meet(cell("other", 30_000, 100, false));
    let error = refused(&extent, 24_100);
    assert!(error.contains("key other is at raw id 30000, and the ledger has no row of it"), "{error}");
    assert!(error.contains("`sequent recover --bump 29900`"), "{error}");
    assert_eq!(extent.rowless.into_keys().collect::<Vec<_>>(), [Key::from_stored("other")]);
}

#[test]
fn a_cell_of_a_layout_before_counts_and_is_named() {
    let extent = of(&[(0, "order", 900), (1, "order|~2", 50)]);
    assert!(refused(&extent, 899).contains("raw id 900"));
    let warnings = extent.warnings(2);
    assert!(warnings.len() == 1 && warnings[0].contains("(generation 1), at raw id 900"), "{warnings:?}");
    assert_eq!(extent.warnings(1), Vec::<String>::new());
}

#[test]
fn a_cell_that_no_bump_reaches_is_named_and_moves_nothing_else() {
    let extent = of(&[(0, "order", 1 << 62), (1, "order", 7)]);
    assert_eq!(extent.check(7, &BTreeSet::new()).unwrap(), Vec::<String>::new());
    let warnings = extent.warnings(1);
    assert!(warnings[0].contains("`sequent advance order TO --jump`"), "{warnings:?}");
}

#[test]
fn a_store_that_does_not_tell_is_named_by_a_person_or_nothing_is_done() {
    let mut extent = of(&[]);
    extent.unread.push((3, SourceError::new(ErrorKind::Timeout, "no answer")));
    extent.untold.push(1);
    assert!(refused(&extent, 5).contains("slot 3: ") && refused(&extent, 5).contains("`--without 3`"));
    let lines = extent.check(5, &BTreeSet::from([3])).unwrap();
    assert!(lines[0].ends_with("slots 1"), "{lines:?}");
}
