//! Rows that a hand deleted, and slots that never had one.

use std::collections::BTreeSet;

use super::{Given, doctor, place};
use crate::{
    doctor::{by_hand, found},
    place::Place,
};

#[test]
fn a_slot_without_row_and_cell_is_told_beside_others_that_are_far_on_and_repeats_nothing() {
    let place = place();
    let mut given = Given::by(&place, "order", 3);
    by_hand(&place, "ledger.db", "DELETE FROM counters WHERE slot = 1");
    by_hand(&place, "shard-1.db", "DELETE FROM cells");
    let warnings = found(&doctor(&place, 0), "warning");
    let start = "slot 1 counter_behind_other_slots: counter order: it has neither row nor cell, and the key's counters ";
    assert!(warnings.len() == 1 && warnings[0].starts_with(start), "{warnings:?}");
    given.more(&place, "order");
    given.more(&place, "order");
}

#[test]
fn a_young_key_and_a_slot_that_was_never_used_are_no_fault() {
    let place = place();
    by_hand(&place, "ledger.db", "DELETE FROM counters WHERE slot = 1");
    by_hand(&place, "shard-1.db", "DELETE FROM cells");
    let report = doctor(&place, 0);
    assert_eq!(report["findings"], serde_json::json!([]), "{report}");
}

#[test]
fn a_slot_that_never_served_a_key_is_behind_nothing_however_far_the_others_are() {
    let place = place();
    place.text(&["drain", "1", "--why", "new disk"]);
    place.text(&["define", "few", "--end", "80000", "--placement", "spread"]);
    let mut given = Given::by(&place, "few", 1);
    let report = doctor(&place, 0);
    assert_eq!(found(&report, "warning"), [""; 0], "{report}");
    place.text(&["rescue", "1", "--why", "it is in"]);
    given.more(&place, "few");
    assert_eq!(found(&doctor(&place, 0), "warning"), [""; 0]);
}

#[test]
fn a_cell_of_a_key_that_no_row_and_no_definition_names_is_an_error() {
    let place = place();
    let template = "R@{ctx,area,len=3}-@{seq,w=9}";
    place.text(&["define", "repair", "--template", template]);
    let next = |area: &str| {
        let with = format!("area={area}");
        let texts = place.text(&["next", "repair", "-n", "4000", "--with", &with]);
        texts.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let mut given: BTreeSet<String> = next("010").into_iter().chain(next("020")).collect();
    doctor(&place, 0);
    by_hand(&place, "ledger.db", "DELETE FROM counters WHERE k LIKE 'repair%010'");
    let report = doctor(&place, 1);
    let errors = found(&report, "error");
    let start = "slot 0 counter_without_row: counter repair|0:|3:010: its cell is at ";
    assert!(errors.len() == 4 && errors[0].starts_with(start), "{errors:?}");
    assert_eq!(report["findings"][0]["keys"], serde_json::json!(["repair|0:|3:010"]));
    place.text(&["advance", "repair", "5000", "--with", "area=010"]);
    doctor(&place, 0);
    for slot in 0..4 {
        by_hand(&place, &format!("shard-{slot}.db"), "DELETE FROM cells");
    }
    for text in next("010").into_iter().chain(next("020")) {
        assert!(given.insert(text.clone()), "{text} came twice");
    }
}

#[test]
fn a_cell_closed_at_zero_whose_row_is_gone_is_an_error_where_nothing_else_tells_how_far_it_was() {
    let place = Place::new();
    assert_eq!(place.numbers_patiently(&["next", "order"]), [1]);
    doctor(&place, 0);
    by_hand(&place, "shard-0.db", "UPDATE cells SET v = 0, open = 0");
    by_hand(&place, "ledger.db", "DELETE FROM counters WHERE slot = 0");
    let errors = found(&doctor(&place, 1), "error");
    assert!(errors.len() == 1 && errors[0].contains("the ledger has no row of it"), "{errors:?}");
}
