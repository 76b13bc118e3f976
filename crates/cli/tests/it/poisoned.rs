//! What a hand wrote into the ledger's row of a counter: what is said of it, and that what the advice says leads out.

use std::fs;

use crate::{
    doctor::{by_hand, found},
    place::Place,
};

const ORDER: &str = "k = 'order' AND slot = 2";

/// What the cell of slot 2 is at: whoever ended well has reported all that it took.
fn value(place: &Place) -> u64 {
    let known = place.json(&["show", "order", "--json"]);
    let counter = known["counters"].as_array().unwrap().iter().find(|counter| counter["slot"] == 2).unwrap();
    counter["seen"].as_str().unwrap().parse().unwrap()
}

/// Puts a copy of the store in its place: another run of it, whose next epoch begins as the ledger says.
fn begin_another_run(place: &Place) {
    by_hand(place, "shard-2.db", "PRAGMA wal_checkpoint(TRUNCATE)");
    let [file, aside] = ["shard-2.db", "aside.db"].map(|name| place.path(&format!("sequent-data/{name}")));
    fs::copy(&file, &aside).unwrap();
    fs::rename(aside, file).unwrap();
}

/// The numbers of slot 2 among the next ones.
fn of_slot_2(place: &Place, given: &mut Vec<u64>) -> usize {
    let numbers = place.numbers(&["next", "order", "-n", "2000"]);
    let own = numbers.iter().filter(|number| **number % 4 == 3).count();
    assert!(numbers.iter().all(|number| !given.contains(number)), "a number came twice");
    given.extend(numbers);
    own
}

/// The word promises nothing, and says where what comes of it is seen.
fn rescue(place: &Place) {
    let said = place.text(&["rescue", "2", "--why", "the row is right"]);
    let expected = "the counters that were put aside there (order) are tried at their next use, and so is the slot; `sequent shards` \
                    names again what is not in order";
    assert!(said.contains(expected), "{said}");
}

fn advice(place: &Place) -> String {
    let shards = place.json(&["shards", "--json"]);
    shards["slots"][2]["quarantined"][0]["advice"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_ceiling_that_a_hand_set_is_set_right_as_the_quarantine_says() {
    let place = Place::with_cluster();
    let mut given = Vec::new();
    assert!(of_slot_2(&place, &mut given) > 0);
    by_hand(&place, "ledger.db", &format!("UPDATE counters SET ceiling = 1 << 62 WHERE {ORDER}"));
    begin_another_run(&place);
    assert_eq!(of_slot_2(&place, &mut given), 0, "it is put aside");
    rescue(&place);
    assert_eq!(of_slot_2(&place, &mut given), 0, "nothing was mended");
    let said = advice(&place);
    let expected = "set `ceiling` in the ledger's row of that counter to the greatest of its `base`, its `seen` and its cell's value. \
                    Otherwise nothing shows how far it was";
    assert!(said.contains(expected) && said.contains("then `sequent rescue 2 --why TEXT`"), "{said}");
    let doctor = place.run(&["doctor", "--json"]).as_json();
    assert!(doctor["findings"][0]["advice"].as_str().unwrap().contains(expected), "{doctor}");
    // Its `seen` is what its cell is at.
    by_hand(&place, "ledger.db", &format!("UPDATE counters SET ceiling = MAX(base, seen) WHERE {ORDER}"));
    rescue(&place);
    assert!(of_slot_2(&place, &mut given) > 0, "it gives again");
    assert_eq!(advice(&place), "");
    place.text(&["doctor"]);
}

#[test]
fn a_row_that_claims_too_much_is_found_beside_the_other_slots_and_set_right_as_doctor_says() {
    let place = Place::with_cluster();
    let mut given = Vec::new();
    of_slot_2(&place, &mut given);
    let value = value(&place);
    let far = format!("UPDATE counters SET ceiling = 1 << 62, seen = 1 << 62 WHERE {ORDER}");
    by_hand(&place, "ledger.db", &far);
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let report = ran.as_json();
    let errors = found(&report, "error");
    let start = "slot 2 counter_far_ahead: counter order: its row is far above ";
    assert!(errors.len() == 1 && errors[0].starts_with(start), "{errors:?}");
    let mend = report["findings"][0]["advice"].as_str().unwrap();
    assert!(mend.contains("and `base` and `seen` where they are higher, to its cell's value"), "{mend}");
    assert_eq!(of_slot_2(&place, &mut given), 0, "it is put aside");
    assert!(
        advice(&place).contains("and `base` and `seen` where they are higher, to its cell's value"),
        "{}",
        advice(&place)
    );
    let right = format!("UPDATE counters SET ceiling = {value}, seen = {value} WHERE {ORDER}");
    by_hand(&place, "ledger.db", &right);
    place.text(&["rescue", "2", "--why", "the row is right"]);
    assert!(of_slot_2(&place, &mut given) > 0, "it gives again");
    place.text(&["doctor"]);
}

/// Advances so far, or to what more is asked for: no refusal asks twice.
fn advance(place: &Place, to: u64) {
    let ran = place.run(&["advance", "order", &to.to_string()]);
    if ran.code != Some(0) {
        let least = ran.err.split("at least ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        place.text(&["advance", "order", least]);
    }
}

#[test]
fn a_row_whose_cell_is_gone_is_set_right_and_then_the_sequence_advanced() {
    for (claim, right) in [("ceiling = 1 << 62, seen = 1 << 62", "seen = {}, "), ("ceiling = 1 << 62", "")] {
        let place = Place::with_cluster();
        let mut given = Vec::new();
        of_slot_2(&place, &mut given);
        // What its slot gave alone, the other slots don't know of.
        for slot in ["0", "1", "3"] {
            place.text(&["evict", slot, "--why", "by hand"]);
        }
        of_slot_2(&place, &mut given);
        by_hand(&place, "ledger.db", &format!("UPDATE counters SET {claim} WHERE {ORDER}"));
        begin_another_run(&place);
        by_hand(&place, "shard-2.db", "DELETE FROM cells");
        for slot in ["0", "1", "3"] {
            place.text(&["rescue", slot, "--why", "by hand"]);
        }
        assert_eq!(of_slot_2(&place, &mut given), 0, "it is put aside, or rests");
        let doctor = place.run(&["doctor", "--json"]).as_json();
        let mend = doctor["findings"][0]["advice"].as_str().unwrap();
        assert!(mend.contains("and then, before anything is given, `sequent advance NAME TO`"), "{mend}");
        let others = "(SELECT MAX(ceiling) FROM counters WHERE k = 'order' AND slot <> 2)";
        let right = right.replace("{}", others);
        by_hand(&place, "ledger.db", &format!("UPDATE counters SET {right}ceiling = {others} WHERE {ORDER}"));
        let highest = given.iter().max().unwrap() + 1;
        advance(&place, highest);
        place.text(&["rescue", "2", "--why", "the row is right"]);
        let before = given.len();
        of_slot_2(&place, &mut given);
        assert!(given[before..].iter().all(|number| *number > highest), "{claim}: above what callers have");
        place.text(&["doctor"]);
    }
}

#[test]
fn a_cell_whose_row_a_hand_deleted_is_an_error_until_it_is_advanced() {
    for (gone, slots) in [("slot = 0", 1), ("true", 4)] {
        let place = Place::with_cluster();
        let highest = *place.numbers(&["next", "order", "-n", "400"]).iter().max().unwrap();
        by_hand(&place, "ledger.db", &format!("DELETE FROM counters WHERE {gone}"));
        let ran = place.run(&["doctor", "--json"]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let errors = found(&ran.as_json(), "error");
        assert_eq!(errors.len(), slots, "{errors:?}");
        assert!(
            errors[0].starts_with("slot 0 counter_without_row: counter order: its cell is at "),
            "{errors:?}"
        );
        assert!(errors[0].contains("and the ledger has no row of it"), "{errors:?}");
        place.text(&["advance", "order", &(highest + 1).to_string()]);
        place.text(&["doctor"]);
        // Now the store may forget.
        by_hand(&place, "shard-0.db", "DELETE FROM cells");
        let numbers = place.numbers(&["next", "order", "-n", "400"]);
        assert!(numbers.iter().all(|number| *number > highest), "{gone}: a number came twice");
    }
}
