//! `sequent doctor` on embedded clusters: what is well, what people and faults have done, and that nothing is changed.

use std::{fs, process::Command};

use crate::{
    place::{Place, copy},
    running::{FREE, Running},
};

/// The findings of a severity, as `place id: found`.
pub(crate) fn found(report: &serde_json::Value, severity: &str) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let of = findings.filter(|finding| finding["severity"] == severity);
    let text = |name: &str, finding: &serde_json::Value| finding[name].as_str().unwrap().to_owned();
    of.map(|finding| {
        format!("{} {}: {}", text("place", finding), text("id", finding), text("found", finding))
    })
    .collect()
}

/// Runs a statement on a database file, as a person would.
pub(crate) fn by_hand(place: &Place, file: &str, sql: &str) {
    let path = place.path(&format!("sequent-data/{file}"));
    let script = "import sqlite3, sys\n\
                  db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)\n\
                  db.execute(sys.argv[2])\n\
                  db.close()";
    let ran = Command::new("python3").args(["-c", script]).arg(path).arg(sql).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

#[test]
fn a_sound_cluster_has_no_findings_and_is_as_it_was() {
    let place = Place::with_cluster();
    let before = place.content("sequent-data");
    let text = place.text(&["doctor"]);
    assert!(text.contains("slot 3  sqlite  ") && text.contains("  ok       its stamp is right"), "{text}");
    assert!(text.ends_with("embedded: 0 errors, 0 warnings, 0 notes; 5 of 5 places examined\n"), "{text}");
    let report = place.json(&["doctor", "--json"]);
    assert_eq!((&report["errors"], &report["findings"]), (&0.into(), &serde_json::json!([])), "{report}");
    assert_eq!(report["places"][0]["place"], "ledger");
    assert_eq!(
        (&report["places"][1]["place"], &report["places"][1]["durability"]),
        (&"slot 0".into(), &"durable".into())
    );
    let quiet = place.text(&["doctor", "--quiet"]);
    assert_eq!(quiet.lines().count(), 1, "{quiet}");
    assert!(place.content("sequent-data") == before, "something was changed");
    assert_eq!(place.numbers_patiently(&["next", "order", "-n", "5"]), [6, 7, 8, 9, 10]);
}

#[test]
fn beside_a_server_at_work_nothing_is_found_and_nothing_disturbed() {
    let place = Place::with_cluster();
    let server = Running::start(&place, &[&["serve"], &FREE[..]].concat());
    for turn in 0..5 {
        place.numbers(&["next", "order", "-n", "100"]);
        let report = place.json(&["doctor", "--json"]);
        assert_eq!(found(&report, "error"), [""; 0], "turn {turn}");
        assert_eq!(found(&report, "warning"), [""; 0], "turn {turn}");
    }
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
}

#[test]
fn where_there_is_no_cluster_none_is_made() {
    let place = Place::new();
    place.run(&["doctor"]).refused(1, &["NO_CLUSTER", "sequent-data"]);
    assert!(!place.path("sequent-data").exists());
}

#[test]
fn a_counter_set_back_or_far_ahead_is_an_error_that_names_it() {
    let place = Place::with_cluster();
    place.numbers(&["next", "order", "-n", "400"]);
    by_hand(&place, "shard-1.db", "UPDATE cells SET v = 2");
    by_hand(&place, "shard-2.db", "UPDATE cells SET v = 1 << 62");
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let errors = found(&ran.as_json(), "error");
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(
        errors[0].starts_with("slot 1 counter_behind: counter order: it goes on above 2, but "),
        "{errors:?}"
    );
    assert!(
        errors[1].starts_with("slot 2 counter_far_ahead: counter order: its cell is far above "),
        "{errors:?}"
    );
    assert_eq!(ran.error()["reason"], "FAILED");
    let text = place.run(&["doctor", "--quiet"]).out;
    assert!(
        text.contains("  error    counter_behind: ") && text.contains("           advice: delete its cell"),
        "{text}"
    );
    assert!(!text.contains("slot 0") && !text.contains("  ok "), "quiet: {text}");
}

/// A ceiling and its cell, and all of a row and its cell: neither proves the other.
#[test]
fn a_cell_and_its_row_set_far_ahead_are_an_error_that_names_both() {
    let place = Place::with_cluster();
    place.numbers(&["next", "order", "-n", "400"]);
    by_hand(&place, "ledger.db", "UPDATE counters SET ceiling = 1 << 50 WHERE slot = 1");
    by_hand(&place, "shard-1.db", "UPDATE cells SET v = 1 << 50");
    let all = "base = 1 << 62, seen = 1 << 62, ceiling = 1 << 62";
    by_hand(&place, "ledger.db", &format!("UPDATE counters SET {all} WHERE slot = 2"));
    by_hand(&place, "shard-2.db", "UPDATE cells SET v = (1 << 62) + 40");
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let report = ran.as_json();
    let errors = found(&report, "error");
    assert_eq!(errors.len(), 2, "{errors:?}");
    for (error, value) in errors.iter().zip(["1125899906842624", "4611686018427387944"]) {
        assert!(
            error.contains("its row and its cell are far above ")
                && error.contains(&format!("(its cell is at {value}; its row has base ")),
            "{errors:?}"
        );
    }
    let advice = report["findings"][0]["advice"].as_str().unwrap();
    assert!(advice.contains("delete its cell, and in the ledger's row"), "{advice}");
}

#[test]
fn a_counter_that_is_gone_or_closed_repeats_nothing() {
    let place = Place::with_cluster();
    by_hand(&place, "shard-1.db", "DELETE FROM cells");
    by_hand(&place, "shard-2.db", "UPDATE cells SET open = 0");
    let report = place.json(&["doctor", "--json"]);
    assert_eq!(found(&report, "warning"), [""; 0], "{report}");
    let infos = found(&report, "info");
    assert_eq!(infos[0], "slot 1 counter_new_epoch: counter order: it has no cell");
    let closed = "slot 2 counter_new_epoch: counter order: its cell is closed for epoch ";
    assert!(infos[1].starts_with(closed), "{infos:?}");
    let numbers = place.numbers(&["next", "order", "-n", "8"]);
    assert!(numbers.iter().all(|number| *number > 5), "{numbers:?}");
}

#[test]
fn files_in_each_others_place_are_errors() {
    let place = Place::with_cluster();
    place.swap("sequent-data/shard-0.db", "sequent-data/shard-3.db");
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let errors = found(&ran.as_json(), "error");
    let [one, other] = &errors[..] else { panic!("{errors:?}") };
    assert!(one.starts_with("slot 0 wrong_store: the store bears stamp slot=3, expected slot=0"), "{one}");
    assert!(
        other.starts_with("slot 3 wrong_store: the store bears stamp slot=0, expected slot=3"),
        "{other}"
    );
}

#[test]
fn a_ledger_that_went_back_is_an_error() {
    let place = Place::with_cluster();
    for name in ["ledger.db", "ledger.db-wal"] {
        let from = place.path(&format!("sequent-data/{name}"));
        if from.exists() {
            fs::copy(from, place.path(name)).unwrap();
        }
    }
    place.numbers(&["next", "order", "-n", "400"]);
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        let (to, from) = (place.path(&format!("sequent-data/{name}")), place.path(name));
        drop(fs::remove_file(&to));
        if from.exists() {
            fs::copy(from, to).unwrap();
        }
    }
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let errors = found(&ran.as_json(), "error");
    assert!(errors[0].starts_with("ledger ledger_behind: it is at version "), "first: {errors:?}");
    // Its counters are behind as well: an advance would be refused now.
    let report = ran.as_json();
    let is_of_counter =
        |finding: &&serde_json::Value| finding["id"].as_str().unwrap().starts_with("counter_");
    let counters = report["findings"].as_array().unwrap().iter().filter(is_of_counter);
    let advice: Vec<&str> = counters.map(|finding| finding["advice"].as_str().unwrap()).collect();
    let first = "First do what is said of the ledger";
    assert!(!advice.is_empty() && advice.iter().all(|advice| advice.starts_with(first)), "{advice:?}");
}

#[test]
fn a_copied_directory_is_an_error() {
    let place = Place::with_cluster();
    copy(&place.path("sequent-data"), &place.path("copy"));
    let ran = place.run(&["doctor", "--json", "--data", "copy"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let errors = found(&ran.as_json(), "error");
    let is_a_copy =
        |error: &String| error.starts_with("ring copied_or_restored: ") && error.contains("is a copy");
    assert!(errors.iter().any(is_a_copy), "{errors:?}");
}

#[test]
fn a_copied_directory_without_its_marker_is_an_error_too() {
    let place = Place::with_cluster();
    copy(&place.path("sequent-data"), &place.path("copy"));
    fs::remove_file(place.path("copy/home")).unwrap();
    let ran = place.run(&["doctor", "--json", "--data", "copy"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let errors = found(&ran.as_json(), "error");
    let moved = "ring copied_or_restored: ledger and stores are other files than those on record";
    assert!(errors.iter().any(|error| error.starts_with(moved)), "{errors:?}");
    assert_eq!(place.run(&["doctor"]).code, Some(0), "the original is well");
}

#[test]
fn a_ceiling_that_a_hand_set_is_an_error() {
    let place = Place::with_cluster();
    by_hand(&place, "ledger.db", "UPDATE counters SET ceiling = 4611686018427387904 WHERE slot = 0");
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let errors = found(&ran.as_json(), "error");
    assert!(errors[0].contains("its ceiling is far above "), "{errors:?}");
    assert!(errors[0].contains("ceiling 4611686018427387904)"), "{errors:?}");
}

#[test]
fn a_place_that_is_away_is_named_and_the_others_are_looked_into() {
    let place = Place::with_cluster();
    fs::remove_file(place.path("sequent-data/shard-1.db")).unwrap();
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let report = ran.as_json();
    assert_eq!(report["unreached"], serde_json::json!(["slot 1"]));
    assert!(found(&report, "warning")[0].starts_with("slot 1 store_unreachable: "), "{report}");
    assert_eq!(
        report["places"].as_array().unwrap().iter().filter(|place| place["reached"] == true).count(),
        4
    );
    assert_eq!(ran.error()["reason"], "NO_SHARD_AVAILABLE");
    assert!(!place.path("sequent-data/shard-1.db").exists(), "nothing is made");
    fs::remove_file(place.path("sequent-data/ledger.db")).unwrap();
    fs::create_dir(place.path("sequent-data/ledger.db")).unwrap();
    place.run(&["doctor"]).refused(3, &["ledger.db is a directory"]);
}

#[test]
fn another_layout_in_the_configuration_is_an_error() {
    let place = Place::with_cluster();
    let ran = place.run(&["doctor", "--json", "--set", "ring.shard_bits=3"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let errors = found(&ran.as_json(), "error");
    assert!(
        errors[0].starts_with("ledger layout_differs: ring.shard_bits is 3: the ledger's layout has 2"),
        "{errors:?}"
    );
}

#[test]
fn what_is_in_a_servers_own_memory_is_not_looked_for_elsewhere() {
    let place = Place::new();
    let shards = "[[shard]]\nslot = 0\nstore = \"memory\"\n[[shard]]\nslot = 1\nstore = \"memory\"\n";
    let ring = "auto_create = [\"*\"]\n[ring]\nshard_bits = 1\nallow_volatile = true\n";
    place.write("sequent.toml", &format!("cluster = \"c\"\n{ring}{shards}"));
    let config = ["--config", "sequent.toml"];
    assert_eq!(place.numbers(&[&["next", "order", "-n", "2"], &config[..]].concat()), [1, 2]);
    let report = place.json(&[&["doctor", "--json"], &config[..]].concat());
    assert_eq!((found(&report, "error").len(), found(&report, "warning").len()), (0, 0), "{report}");
    assert_eq!(found(&report, "info")[1], "slot 1 memory_store: the store is in the memory of each server");
    assert_eq!(report["unreached"], serde_json::json!([]));
}
