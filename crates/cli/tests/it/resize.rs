//! `resize` where there is nothing to do: it says so, claims nothing, and changes nothing. And what `doctor` finds of a ledger from before
//! a resize.

use std::fs;

use crate::{doctor::found, place::Place};

#[test]
fn what_is_in_force_already_is_left_as_it_is() {
    let place = Place::with_cluster();
    let before = place.content("sequent-data");
    for args in [&["resize", "--shard-bits", "2", "--go"][..], &["resize", "--go"], &["resize"]] {
        let said = place.text(args);
        let expected = "the ring has 4 slots (shard_bits 2, memory_bits 0, generation 1) already: there is nothing to do, and nothing \
                        was changed";
        assert!(said.starts_with(expected) && !said.contains("generation 2"), "{said}");
        let report = place.json(&[args, &["--json"]].concat());
        assert_eq!(
            (&report["state"], &report["to_be"]["generation"]),
            (&"in_force".into(), &1.into()),
            "{report}"
        );
    }
    assert!(place.content("sequent-data") == before, "something was changed");
    assert_eq!(place.numbers(&["next", "order"]), [6]);
    let grown = place.json(&["resize", "--shard-bits", "3", "--go", "--json"]);
    assert_eq!((&grown["state"], &grown["to_be"]["generation"]), (&"current".into(), &2.into()), "{grown}");
    let again = place.json(&["resize", "--shard-bits", "3", "--go", "--json"]);
    assert_eq!(
        (&again["state"], &again["from"]["generation"]),
        (&"in_force".into(), &2.into()),
        "asked once more"
    );
}

#[test]
fn doctor_finds_a_ledger_from_before_a_resize_by_the_marker_too() {
    let place = Place::with_cluster();
    let ledger = place.path("sequent-data/ledger.db");
    fs::copy(&ledger, place.path("before.db")).unwrap();
    place.text(&["resize", "--shard-bits", "3", "--go"]);
    assert!(place.run(&["doctor"]).code == Some(0), "as it is");
    for name in ["ledger.db-wal", "ledger.db-shm"] {
        drop(fs::remove_file(place.path(&format!("sequent-data/{name}"))));
    }
    fs::copy(place.path("before.db"), &ledger).unwrap();
    // As stores do that forget: what they bear says nothing any more.
    for slot in 0..8 {
        drop(fs::remove_file(place.path(&format!("sequent-data/shard-{slot}.db"))));
    }
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let errors = found(&ran.as_json(), "error");
    let told = |error: &String| {
        error.starts_with("ring ledger_before_resize: ")
            && error.contains("the ledger is of generation 1 (")
            && error.contains("(generation 2)")
    };
    assert!(errors.iter().any(told), "{errors:?}");
}

/// Its version is below the ledger's by now, which a resize lifts, and above what that had when the layout was fenced.
#[test]
fn doctor_finds_a_mark_of_the_layout_before_that_is_above_its_end() {
    let place = Place::with_cluster();
    place.text(&["resize", "--shard-bits", "3", "--go"]);
    let home = place.path("sequent-data/home");
    let text = fs::read_to_string(&home).unwrap();
    let (now, before) = ("generation=2 shard_bits=3", "generation=1 shard_bits=2");
    assert!(text.contains(now), "{text}");
    fs::write(&home, text.replace(now, before)).unwrap();
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let errors = found(&ran.as_json(), "error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].starts_with("ring ledger_behind: ") && errors[0].contains("generation 1"),
        "{errors:?}"
    );
}
