//! A ledger that was emptied, or replaced by an empty one, beside stores that bear stamps: whoever looks says so, and nothing
//! tells a person to begin anew.

use std::{
    fs,
    time::{Duration, Instant},
};

use crate::{
    doctor::{by_hand, found},
    place::Place,
    running::{FREE, Running},
};

/// Takes everything out of the ledger, as if a fresh one were in its place.
fn empty(place: &Place) {
    empty_but_definitions(place);
    by_hand(place, "ledger.db", "DELETE FROM documents WHERE name LIKE 'definition/%'");
}

/// The same, but that a server which had not noticed yet wrote its definitions back.
fn empty_but_definitions(place: &Place) {
    let fresh = "UPDATE meta SET id = '000000000000000000000000000000ab', version = 0, accepted = NULL";
    by_hand(place, "ledger.db", fresh);
    // First that by which a server at work notices: it writes nothing more then.
    for rows in [
        "servers",
        "documents WHERE name = 'layout'",
        "counters",
        "history",
        "documents WHERE name LIKE 'store/%'",
    ] {
        by_hand(place, "ledger.db", &format!("DELETE FROM {rows}"));
    }
}

fn copy_ledger(place: &Place, from: &str, to: &str) {
    for name in ["ledger.db", "ledger.db-wal"] {
        let (from, to) = (place.path(&format!("{from}/{name}")), place.path(&format!("{to}/{name}")));
        drop(fs::remove_file(&to));
        if from.exists() {
            fs::copy(from, to).unwrap();
        }
    }
}

#[test]
fn whoever_looks_names_the_cluster_of_the_stores_and_none_says_to_begin() {
    let place = Place::with_cluster();
    empty(&place);
    let before = place.content("sequent-data");
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let report = ran.as_json();
    let errors = found(&report, "error");
    let start = "ledger wrong_ledger: the ledger holds nothing, but stores bear stamps of cluster embedded and its ledger ";
    assert!(errors.len() == 1 && errors[0].starts_with(start), "{errors:?}");
    assert!(errors[0].contains("(slots 0, 1, 2, 3)"), "{errors:?}");
    let advice = report["findings"][0]["advice"].as_str().unwrap();
    assert!(advice.contains("newest backup") && advice.contains("`sequent recover --bump N`"), "{advice}");
    assert!(!ran.out.contains("not been started"), "{ran:?}");
    assert!(place.content("sequent-data") == before, "a look changes nothing");

    let words = ["RECOVERY_REQUIRED", "stamps of cluster embedded", "newest backup"];
    for args in [
        &["show", "order"][..],
        &["list"],
        &["recover", "--moved"],
        &["recover", "--since", "2026-01-01T00:00:00Z", "--at-most-per-second", "9"],
    ] {
        place.run(args).refused(3, &words);
    }
    let shards = place.run(&["shards"]);
    assert_eq!(shards.code, Some(3), "{shards:?}");
    assert!(shards.out.contains("\nledger  ") && shards.out.contains("slots 0, 1, 2, 3"), "{shards:?}");
    place.run(&["next", "order"]).refused(3, &["RECOVERY_REQUIRED", "another ledger"]);
}

#[test]
fn what_the_advice_says_leads_out_with_a_backup_and_without() {
    let place = Place::with_cluster();
    fs::create_dir(place.path("backup")).unwrap();
    copy_ledger(&place, "sequent-data", "backup");
    let last = place.numbers(&["next", "order", "-n", "40"]);
    empty(&place);
    copy_ledger(&place, "backup", "sequent-data");
    let errors = found(&place.run(&["doctor", "--json"]).as_json(), "error");
    assert!(
        errors.len() == 1 && errors[0].starts_with("ledger ledger_behind: it is at version "),
        "{errors:?}"
    );
    place.text(&["recover", "--bump", "100"]);
    let next = place.numbers(&["next", "order"])[0];
    assert!(next > last[39], "{next} after {}", last[39]);

    empty(&place);
    place.text(&["recover", "--bump", "1000"]);
    place.text(&["doctor"]);
    let next = place.numbers(&["next", "order"])[0];
    assert!(next > 4000, "{next}: above 1000 raw ids of each of four slots");
}

#[test]
fn a_ledger_into_which_a_server_wrote_definitions_back_is_an_emptied_one() {
    let place = Place::with_cluster();
    let last = place.numbers(&["next", "order", "-n", "40"]);
    empty_but_definitions(&place);
    place.run(&["show", "order"]).refused(3, &["the ledger holds nothing", "`sequent recover --bump N`"]);
    place.text(&["recover", "--bump", "1000"]);
    let next = place.numbers(&["next", "order"])[0];
    assert!(next > 4000 && next > last[39], "{next}: above 1000 raw ids of each of four slots");
    // The slots that were not asked since have cells without a row, which the loss covers.
    place.text(&["doctor"]);
    let ledger = "DELETE FROM documents WHERE name LIKE 'note/|~floor%'";
    by_hand(&place, "ledger.db", ledger);
    assert_eq!(place.run(&["doctor"]).code, Some(1), "without what was named they are errors");
}

#[test]
fn a_ledger_that_lost_its_layout_alone_is_no_new_one() {
    let place = Place::with_cluster();
    by_hand(&place, "ledger.db", "DELETE FROM documents WHERE name = 'layout'");
    let errors = found(&place.run(&["doctor", "--json"]).as_json(), "error");
    assert!(errors[0].starts_with("ledger wrong_ledger: the ledger has no layout any more"), "{errors:?}");
    place.run(&["show", "order"]).refused(3, &["has no layout any more", "put an empty ledger in its place"]);
}

#[test]
fn where_stores_forgot_the_marker_in_the_data_directory_tells() {
    let place = Place::with_cluster();
    empty(&place);
    for slot in 0..4 {
        fs::remove_file(place.path(&format!("sequent-data/shard-{slot}.db"))).unwrap();
    }
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let errors = found(&ran.as_json(), "error");
    assert!(
        errors[0].contains("the marker in ") && errors[0].contains("says that it was at version"),
        "{errors:?}"
    );
    place.run(&["recover", "--moved"]).refused(3, &["RECOVERY_REQUIRED", "the marker in "]);
    // What it says leads out; no cell is left that proves it.
    place.run(&["next", "order"]).refused(3, &["RECOVERY_REQUIRED"]);
    assert_eq!(place.run(&["recover", "--bump", "1000"]).code, Some(3));
    place.text(&["recover", "--bump", "1000", "--yes"]);
    assert!(place.numbers(&["next", "order"])[0] > 4000);
}

#[test]
fn another_clusters_ledger_is_an_error_of_the_ledger() {
    let (place, other) = (Place::with_cluster(), Place::with_cluster());
    fs::create_dir(place.path("other")).unwrap();
    for name in ["ledger.db", "ledger.db-wal"] {
        let from = other.path(&format!("sequent-data/{name}"));
        if from.exists() {
            fs::copy(from, place.path(&format!("other/{name}"))).unwrap();
        }
    }
    copy_ledger(&place, "other", "sequent-data");
    let errors = found(&place.run(&["doctor", "--json"]).as_json(), "error");
    let start = "ledger wrong_ledger: another ledger is in the place of this cluster's: found ";
    assert!(errors[0].starts_with(start), "{errors:?}");
    place.run(&["show", "invoice"]).refused(3, &["RECOVERY_REQUIRED", "another ledger"]);
    assert_eq!(place.run(&["shards"]).code, Some(3));
    place.run(&["recover", "--moved"]).refused(3, &["another ledger is in the place"]);
}

/// Looks until a server at work says so; a minute at most.
fn warned(place: &Place, words: &str) {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let report = place.run(&["doctor", "--json"]).as_json();
        let warnings = found(&report, "warning");
        if warnings.iter().any(|found| found.starts_with("ring server_waits: ") && found.contains(words)) {
            return;
        }
        assert!(Instant::now() < until, "{words}: {report}");
    }
}

#[test]
fn a_server_that_runs_through_the_loss_and_the_recovery_of_its_ledger_says_what_to_do_each_time() {
    let place = Place::with_cluster();
    let server = Running::start(&place, &[&["serve", "--set", "limits.drain_delay_s=0"], &FREE[..]].concat());
    let given = server.next()["number"].as_u64().unwrap_or_default();
    empty(&place);
    warned(&place, "another ledger is in the place of this cluster's");
    place.run(&["recover", "--bump", "1000"]).refused(3, &["a server runs (", "nothing was done", "--yes"]);
    place.run(&["show", "order"]).refused(3, &["the ledger holds nothing"]);
    place.text(&["recover", "--bump", "1000", "--yes"]);
    warned(&place, "the cluster was recovered while this server ran");
    assert_eq!(server.end().0, Some(0));
    let next = place.numbers(&["next", "order"])[0];
    assert!(next > 4000 && next > given, "{next}");
}
