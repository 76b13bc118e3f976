//! What a hand lowered or deleted in the ledger and in stores while nothing ran: what `doctor` says of it, and that nothing comes
//! twice where it says that all is well, or after what it advises was done.

use std::collections::BTreeSet;

use crate::{
    doctor::{by_hand, found},
    place::Place,
};

/// Numbers of one request.
const MANY: &str = "8000";

/// The numbers of a cluster, each once.
pub(crate) struct Given(BTreeSet<u64>);

impl Given {
    /// So many requests of `name`: with three, each slot comes further than slots that take turns are apart.
    pub(crate) fn by(place: &Place, name: &str, requests: usize) -> Self {
        let mut given = Self(BTreeSet::new());
        (0..requests).for_each(|_| given.more(place, name));
        given
    }

    pub(crate) fn more(&mut self, place: &Place, name: &str) {
        for number in place.numbers_patiently(&["next", name, "-n", MANY]) {
            assert!(self.0.insert(number), "{number} came twice");
        }
    }

    /// What to advance to: a round above the highest, so that each slot is moved.
    fn beyond(&self) -> String {
        (self.highest() + 100).to_string()
    }

    pub(crate) fn highest(&self) -> u64 {
        *self.0.last().unwrap()
    }
}

pub(crate) fn place() -> Place {
    let place = Place::with_cluster();
    by_hand(&place, "shard-0.db", "PRAGMA wal_checkpoint(TRUNCATE)");
    place
}

/// What doctor says, with this exit code; the same as JSON.
pub(crate) fn doctor(place: &Place, code: i32) -> serde_json::Value {
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert_eq!(place.run(&["doctor"]).code, Some(code), "for people, too");
    ran.as_json()
}

#[test]
fn rows_that_a_hand_lowered_are_errors_on_durable_stores_until_they_are_advanced() {
    let place = place();
    let mut given = Given::by(&place, "order", 1);
    by_hand(&place, "ledger.db", "UPDATE counters SET base = 0, seen = 0, ceiling = 100");
    let report = doctor(&place, 1);
    let errors = found(&report, "error");
    assert_eq!(errors.len(), 4, "{errors:?}");
    assert!(errors[0].contains("is above its ceiling 100"), "{errors:?}");
    let causes = report["findings"][0]["causes"].as_str().unwrap();
    assert!(causes.starts_with("the ledger does not know of numbers that were given"), "{causes}");
    place.text(&["advance", "order", &given.beyond()]);
    doctor(&place, 0);
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
    assert!(errors.len() == 1 && errors[0].contains("a ceiling of 100, below "), "{errors:?}");
    place.text(&["advance", "order", &given.beyond()]);
    doctor(&place, 0);
    given.more(&place, "order");
}

/// What a finding says that is needed at least: `TO is at least 4712 for counter order`.
pub(crate) fn needed(report: &serde_json::Value) -> u64 {
    let mend = report["findings"][0]["mend"].as_str().unwrap();
    let (_, rest) = mend
        .split_once("so that the row is written anew, TO is at least ")
        .unwrap_or_else(|| panic!("{mend}"));
    rest.split(' ').next().unwrap().parse().unwrap()
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
        errors.len() == 1 && errors[0].contains("its cell is closed at 0, and the ledger's row"),
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
    let start = "slot 1 counter: counter order: there is no cell of it, and its ceiling 100 in the ledger is far below";
    assert!(warnings.len() == 1 && warnings[0].starts_with(start), "{warnings:?}");
    given.more(&place, "order");
    given.more(&place, "order");
}

#[test]
fn a_slot_without_row_and_cell_is_told_beside_others_that_are_far_on_and_repeats_nothing() {
    let place = place();
    let mut given = Given::by(&place, "order", 3);
    by_hand(&place, "ledger.db", "DELETE FROM counters WHERE slot = 1");
    by_hand(&place, "shard-1.db", "DELETE FROM cells");
    let warnings = found(&doctor(&place, 0), "warning");
    let start =
        "slot 1 counter: counter order: it has neither row nor cell, and the key's other slots are at ";
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
fn beyond_what_a_life_follows_it_is_an_error_until_it_is_advanced() {
    for lower in ["UPDATE counters SET base = 0, seen = 0, ceiling = 1", "DELETE FROM counters"] {
        let place = place();
        // A life of so small a range follows the other slots by 20 raw ids.
        place.text(&["define", "few", "--end", "80000", "--placement", "spread"]);
        let mut given = Given::by(&place, "few", 1);
        by_hand(&place, "ledger.db", &format!("{lower} WHERE slot = 1 AND k = 'few'"));
        by_hand(&place, "shard-1.db", "DELETE FROM cells WHERE k = 'few'");
        let errors = found(&doctor(&place, 1), "error");
        assert!(errors.len() == 1 && errors[0].starts_with("slot 1 counter: counter few: "), "{errors:?}");
        place.text(&["advance", "few", &given.beyond(), "--leap"]);
        doctor(&place, 0);
        given.more(&place, "few");
    }
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
    let start = "slot 0 counter: counter repair|0:|3:010: its cell is at ";
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
fn an_advance_leaves_out_what_a_row_claims_that_nobody_believes_and_names_it() {
    let place = place();
    let mut given = Given::by(&place, "order", 1);
    by_hand(&place, "ledger.db", "UPDATE counters SET ceiling = 1 << 62, seen = 1 << 62 WHERE slot = 2");
    let to = given.highest() + 1;
    let report = place.json(&["advance", "order", &to.to_string(), "--json"]);
    let before: u64 = report["before"].to_string().trim_matches('"').parse().unwrap();
    assert!(before <= given.highest(), "{report}");
    let aside = report["aside"][0].as_str().unwrap();
    assert!(aside.starts_with("slot 2 key order: the ledger's row says that it is at 46116"), "{aside}");
    assert!(aside.contains("find out who wrote it"), "{aside}");
    let said = place.text(&["advance", "order", &(to + 1).to_string()]);
    assert!(said.contains("not believed, and left out of that: slot 2 key order: "), "{said}");
    given.more(&place, "order");
}

#[test]
fn a_recovery_names_a_row_that_nobody_believes_before_it_raises_it() {
    for (set, what) in [
        ("seen = 1 << 62, ceiling = 1 << 62", "the ledger's row says that it is at 4611686018427387904"),
        ("ceiling = 1 << 62", "the ledger's row has a ceiling of 4611686018427387904"),
    ] {
        let place = place();
        let _given = Given::by(&place, "order", 1);
        by_hand(&place, "ledger.db", &format!("UPDATE counters SET {set} WHERE slot = 2"));
        let ran = place.run(&["recover", "--bump", "100000", "--json"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let plan = ran.as_json();
        let cautions = plan["plan"]["cautions"].to_string();
        assert!(cautions.contains(&format!("slot 2 key order: {what}")), "{cautions}");
    }
}

#[test]
fn a_cell_beyond_every_bump_is_told_with_what_it_can_have_come_to() {
    let place = place();
    let _given = Given::by(&place, "order", 1);
    by_hand(&place, "shard-2.db", "UPDATE cells SET v = 1 << 62");
    let ran = place.run(&["recover", "--bump", "100000"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.out.contains("slot 2: the cell of key order is at raw id 4611686018427387904")
            && ran.out.contains("so a hand or a broken disk set it: delete it"),
        "{ran:?}"
    );
}

#[test]
fn a_text_that_does_not_tell_all_of_its_counter_is_explained_with_what_it_lacks() {
    let place = place();
    place.text(&[
        "define",
        "parcel",
        "--template",
        "P@{ctx,area,len=3,show=no}-@{seq,w=5}",
        "--unique",
        "partition",
    ]);
    for area in ["010", "020"] {
        place.text(&["next", "parcel", "--with", &format!("area={area}")]);
    }
    let of = |with: &[&str]| place.run(&[&["explain", "parcel", "P-00001", "--json"], with].concat());
    of(&[]).refused(2, &["the text does not tell area", "--with area=VALUE"]);
    of(&["--with", "zone=1"]).refused(2, &["zone", "area are allowed"]);
    let told = of(&["--with", "area=010"]).as_json();
    assert_eq!(told["number"].to_string().trim_matches('"'), "1", "{told}");
    assert!(told["verdict"].as_str().unwrap().contains("taken in life"), "{told}");
    let never = of(&["--with", "area=030"]).as_json();
    assert!(never["verdict"].as_str().unwrap().contains("has not begun"), "{never}");
}

#[test]
fn a_cell_closed_at_zero_whose_row_is_gone_is_an_error_where_nothing_else_tells_how_far_it_was() {
    let place = Place::new();
    assert_eq!(place.numbers_patiently(&["next", "order"]), [1]);
    doctor(&place, 0);
    by_hand(&place, "shard-0.db", "UPDATE cells SET v = 0, open = 0");
    by_hand(&place, "ledger.db", "DELETE FROM counters WHERE slot = 0");
    let errors = found(&doctor(&place, 1), "error");
    assert!(errors.len() == 1 && errors[0].contains("the ledger has lost its row"), "{errors:?}");
}
