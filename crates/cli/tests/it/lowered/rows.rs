//! Rows that a hand set lower, with their cells or without.

use super::{Given, aged, doctor, needed, place};
use crate::doctor::{by_hand, found};

#[test]
fn rows_that_a_hand_lowered_are_errors_on_durable_stores_until_they_are_advanced() {
    let place = place();
    let mut given = Given::by(&place, "order", 1);
    by_hand(&place, "ledger.db", "UPDATE counters SET base = 0, seen = 0, ceiling = 100");
    let report = doctor(&place, 1);
    let errors = found(&report, "error");
    assert_eq!(errors.len(), 4, "{errors:?}");
    assert!(errors[0].contains(", above its ceiling 100"), "{errors:?}");
    assert_eq!(report["findings"][0]["id"], "counter_above_ceiling", "{report}");
    place.text(&["advance", "order", &given.beyond()]);
    doctor(&place, 0);
    aged(&place);
    for slot in 0..4 {
        by_hand(&place, &format!("shard-{slot}.db"), "DELETE FROM cells");
    }
    doctor(&place, 0);
    given.more(&place, "order");
}

#[test]
fn a_row_below_what_it_says_itself_is_an_error_once_its_cell_is_gone() {
    let place = place();
    let mut given = Given::by(&place, "order", 1);
    by_hand(&place, "ledger.db", "UPDATE counters SET ceiling = 100 WHERE slot = 1");
    by_hand(&place, "shard-1.db", "DELETE FROM cells");
    let errors = found(&doctor(&place, 1), "error");
    assert!(errors.len() == 1 && errors[0].contains("it goes on above 100, but "), "{errors:?}");
    place.text(&["advance", "order", &given.beyond()]);
    doctor(&place, 0);
    given.more(&place, "order");
}

#[test]
fn the_number_that_an_advice_names_is_the_least_that_writes_the_row_anew() {
    let place = place();
    place.text(&["define", "wide", "--start", "1000", "--step", "10"]);
    let mut given = Given::by(&place, "wide", 1);
    by_hand(&place, "ledger.db", "UPDATE counters SET ceiling = 100 WHERE slot = 1 AND k = 'wide'");
    by_hand(&place, "shard-1.db", "DELETE FROM cells WHERE k = 'wide'");
    let report = doctor(&place, 1);
    let to = needed(&report);
    // The slots turn: what is before it in the same slot leaves the row as it is.
    place.text(&["advance", "wide", &given.highest().max(to - 40).to_string()]);
    assert_eq!(needed(&doctor(&place, 1)), to, "it is the least");
    place.text(&["advance", "wide", &to.to_string()]);
    doctor(&place, 0);
    given.more(&place, "wide");
}

#[test]
fn a_closed_cell_at_zero_hides_no_row_that_was_lowered() {
    let place = place();
    let mut given = Given::by(&place, "order", 1);
    by_hand(&place, "ledger.db", "UPDATE counters SET ceiling = 100 WHERE slot = 1");
    by_hand(&place, "shard-1.db", "UPDATE cells SET v = 0, open = 0");
    let report = doctor(&place, 1);
    let errors = found(&report, "error");
    assert!(
        errors.len() == 1 && errors[0].contains(" was given (its cell is closed at 0; its row has "),
        "{errors:?}"
    );
    place.text(&["advance", "order", &needed(&report).max(given.highest() + 1).to_string()]);
    doctor(&place, 0);
    given.more(&place, "order");
}

#[test]
fn a_row_lowered_below_the_other_slots_whose_cell_is_gone_is_told_and_repeats_nothing() {
    let place = place();
    let mut given = Given::by(&place, "order", 3);
    by_hand(&place, "ledger.db", "UPDATE counters SET base = 0, seen = 0, ceiling = 100 WHERE slot = 1");
    by_hand(&place, "shard-1.db", "DELETE FROM cells");
    let warnings = found(&doctor(&place, 0), "warning");
    let start = "slot 1 counter_behind_other_slots: counter order: it goes on above 100 (it has no cell), and the key's counters ";
    assert!(warnings.len() == 1 && warnings[0].starts_with(start), "{warnings:?}");
    aged(&place);
    given.more(&place, "order");
    given.more(&place, "order");
}

#[test]
fn beyond_what_an_epoch_follows_it_is_an_error_until_it_is_advanced() {
    for lower in ["UPDATE counters SET base = 0, seen = 0, ceiling = 1", "DELETE FROM counters"] {
        let place = place();
        // An epoch of so small a range follows the other slots by 20 raw ids.
        place.text(&["define", "few", "--end", "80000", "--placement", "spread"]);
        let mut given = Given::by(&place, "few", 1);
        by_hand(&place, "ledger.db", &format!("{lower} WHERE slot = 1 AND k = 'few'"));
        by_hand(&place, "shard-1.db", "DELETE FROM cells WHERE k = 'few'");
        let errors = found(&doctor(&place, 1), "error");
        assert!(
            errors.len() == 1 && errors[0].starts_with("slot 1 counter_behind: counter few: "),
            "{errors:?}"
        );
        place.text(&["advance", "few", &given.beyond(), "--jump"]);
        doctor(&place, 0);
        given.more(&place, "few");
    }
}
