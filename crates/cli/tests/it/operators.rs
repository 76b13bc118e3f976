//! What operators see and say: `list`, `show`, `shards`, `evict`, `rescue`, `recover`.

use std::fs;

use crate::place::{Place, copy};

#[test]
fn list_and_show_name_what_there_is() {
    let place = Place::with_cluster();
    place.numbers(&["next", "invoice"]);
    let table = place.text(&["list"]);
    assert!(table.contains("invoice") && table.contains("order"), "{table}");
    let list = place.json(&["list", "--json"]);
    let sequences = list["sequences"].as_array().unwrap();
    let names: Vec<&str> = sequences.iter().map(|item| item["sequence"].as_str().unwrap()).collect();
    assert_eq!(names, ["invoice", "order"]);
    let order = place.json(&["show", "order", "--json"]);
    let expected = serde_json::json!(["order", 1, "spread", "1", "1"]);
    let fields = ["sequence", "version", "placement", "start", "step"];
    assert_eq!(serde_json::Value::from_iter(fields.map(|field| order[field].clone())), expected, "{order}");
    let counters = order["counters"].as_array().unwrap();
    assert_eq!(counters.len(), 4, "{order}");
    // Numbers 1 to 5 are raw id 1 of each slot and raw id 2 of slot 0.
    let seen: Vec<&str> = counters.iter().map(|counter| counter["seen"].as_str().unwrap()).collect();
    assert_eq!(seen, ["2", "1", "1", "1"], "{order}");
    place.run(&["show", "nothing"]).refused(1, &["sequent: SEQUENCE_NOT_FOUND: ", "nothing"]);
}

#[test]
fn shards_are_four_and_open() {
    let place = Place::with_cluster();
    let shards = place.json(&["shards", "--json"]);
    let states: Vec<&str> =
        shards["slots"].as_array().unwrap().iter().map(|slot| slot["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["open"; 4]);
}

#[test]
fn a_word_is_written_with_who_and_why_and_obeyed() {
    let place = Place::with_cluster();
    place.text(&["evict", "2", "--why", "disk swap", "--who", "ann@ops"]);
    let slot = &place.json(&["shards", "--json"])["slots"][2];
    assert_eq!(slot["state"], "evicted", "{slot}");
    assert_eq!(
        (&slot["word"]["verb"], &slot["word"]["who"], &slot["word"]["why"]),
        (&"evict".into(), &"ann@ops".into(), &"disk swap".into())
    );
    let table = place.text(&["shards"]);
    assert!(table.contains("disk swap") && table.contains("ann@ops"), "{table}");
    let numbers = place.numbers(&["next", "order", "-n", "12"]);
    for number in &numbers {
        let slot = &place.json(&["explain", "order", &number.to_string(), "--json"])["slot"];
        assert_ne!(slot, &2, "{number} came from an evicted slot");
    }
    place.text(&["rescue", "2", "--why", "new disk"]);
    assert_eq!(place.json(&["shards", "--json"])["slots"][2]["state"], "open");
}

#[test]
fn a_slot_is_drained_and_rescued() {
    let place = Place::with_cluster();
    place.text(&["drain", "1", "--why", "another host", "--who", "ann@ops"]);
    let slot = &place.json(&["shards", "--json"])["slots"][1];
    assert_eq!((&slot["state"], &slot["word"]["verb"]), (&"draining".into(), &"drain".into()), "{slot}");
    assert!(place.text(&["shards"]).contains("drain, said by ann@ops"));
    for number in place.numbers(&["next", "order", "-n", "8"]) {
        let slot = &place.json(&["explain", "order", &number.to_string(), "--json"])["slot"];
        assert_ne!(slot, &1, "{number} came from a slot that drains");
    }
    place.text(&["rescue", "1", "--why", "it is there"]);
    assert_eq!(place.json(&["shards", "--json"])["slots"][1]["state"], "open");
    place.text(&["drain", "1", "--why", "another host"]);
    let state = || {
        // An ask lasts eight attempts at most: less of each, and it is told sooner.
        let shards = place.json(&["shards", "--json", "--set", "ring.attempt_timeout_ms=200"]);
        shards["slots"][1]["state"].as_str().unwrap().to_owned()
    };
    let tries = (0..200).take_while(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        state() != "drained"
    });
    assert!((1..200).contains(&tries.count()), "{}", state());
}

#[test]
fn the_last_slot_that_can_give_goes_only_where_that_is_said() {
    let place = Place::with_cluster();
    place.text(&["evict", "0", "--why", "x"]);
    place.text(&["drain", "1", "--why", "x"]);
    fs::rename(place.path("sequent-data/shard-2.db"), place.path("aside.db")).unwrap();
    fs::create_dir(place.path("sequent-data/shard-2.db")).unwrap();
    for verb in ["drain", "evict"] {
        let words = [
            "slot is \"3\": the last slot that can give",
            "slot 0 is evicted",
            "slot 1 is drain",
            "--leave-none",
        ];
        place.run(&[verb, "3", "--why", "x"]).refused(2, &words);
    }
    let slot = &place.json(&["shards", "--json"])["slots"][3];
    assert_eq!(
        (&slot["state"], &slot["word"]),
        (&"open".into(), &serde_json::Value::Null),
        "nothing was said"
    );
    place.numbers(&["next", "order", "-n", "4"]);
    place.text(&["drain", "3", "--why", "all move", "--leave-none"]);
    place.run(&["next", "order"]).refused(4, &["NO_SHARD_AVAILABLE"]);
    place.text(&["rescue", "1", "--why", "it is there"]);
    place.text(&["evict", "3", "--why", "no longer the last"]);
    place.numbers(&["next", "order", "-n", "4"]);
}

#[test]
fn a_sequence_is_advanced_for_an_import() {
    let place = Place::with_cluster();
    let done = place.json(&["advance", "order", "250000", "--json"]);
    assert_eq!(
        (&done["to"], &done["before"], &done["next"]),
        (&"250000".into(), &"5".into(), &"250001".into()),
        "{done}"
    );
    assert_eq!(place.numbers(&["next", "order", "-n", "2"]), [250_001, 250_002]);
    let again = place.json(&["advance", "order", "250000", "--json"]);
    assert_eq!((&again["already"], &again["next"]), (&true.into(), &"250003".into()), "{again}");
    place.run(&["advance", "order", "7"]).refused(2, &["INVALID_ARGUMENT", "to", "7", "at least 250000"]);
    let far = (1_u64 << 50).to_string();
    place.run(&["advance", "order", &far]).refused(2, &["INVALID_ARGUMENT", &far, "at most ", "--jump"]);
    let beyond = (1_u64 << 53).to_string();
    place.run(&["advance", "order", &beyond]).refused(2, &[&beyond, "at most 9007199254740991"]);
    place.run(&["advance", "order", "0"]).refused(2, &["to", "1 to "]);
    assert_eq!(place.numbers(&["next", "order"]), [250_003], "what is refused changes nothing");
    let text = place.text(&["advance", "order", &far, "--jump"]);
    assert!(text.contains(&format!("no number up to {far} is given any more")), "{text}");
    assert!(place.numbers(&["next", "order", "-n", "4"]).into_iter().all(|number| number > 1 << 50));
    place
        .run(&["advance", "ordre", "9"])
        .refused(1, &["SEQUENCE_NOT_FOUND", "did you mean order?", "--create"]);
    let made = place.json(&["advance", "ordre", "9", "--create", "--json"]);
    assert_eq!(made["next"], "10", "{made}");
}

#[test]
fn a_ring_is_resized_and_numbers_go_on() {
    let place = Place::with_cluster();
    let plan = place.text(&["resize", "--shard-bits", "3"]);
    assert!(
        plan.contains("to 8 slots (shard_bits 3, memory_bits 0, generation 2): a plan; --go does it"),
        "{plan}"
    );
    assert!(plan.contains("stores that are new to the ring, by slot: 4, 5, 6, 7"), "{plan}");
    assert!(plan.contains("order  5      5               6 or higher"), "{plan}");
    assert!(!place.path("sequent-data/shard-4.db").exists(), "a look makes nothing");
    assert_eq!(place.numbers(&["next", "order"]), [6], "nothing is different yet");
    let ran = place.run(&["resize", "--shard-bits", "3", "--go"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for step in ["planned: ", "fenced: ", "keys that have their new counters: 1 of 1", "current: restart"] {
        assert!(ran.err.contains(step), "{step:?} is not in {}", ran.err);
    }
    assert_eq!(place.numbers(&["next", "order", "-n", "9"]), [7, 8, 9, 10, 11, 12, 13, 14, 15]);
    let doctor = place.json(&["doctor", "--json"]);
    let grave = |finding: &&serde_json::Value| {
        finding["severity"] == "error" || finding["id"].as_str().unwrap().starts_with("counter_")
    };
    assert_eq!(doctor["findings"].as_array().unwrap().iter().filter(grave).count(), 0, "{doctor}");
    assert!(place.text(&["explain", "order", "3"]).contains("before the ring was resized"));
    assert!(place.text(&["explain", "order", "9"]).contains("epoch"));
    let cancelled = place.json(&["resize", "--cancel", "--json"]);
    assert_eq!(cancelled["cancelled"], false, "{cancelled}");
    place.run(&["resize", "--shard-bits", "11"]).refused(2, &["shard-bits", "11"]);
    let nothing = place.json(&["resize", "--shard-bits", "3", "--json"]);
    assert_eq!(
        (&nothing["state"], &nothing["to_be"]["generation"]),
        (&"in_force".into(), &2.into()),
        "{nothing}"
    );
}

#[test]
fn a_word_that_makes_no_sense_is_refused() {
    let place = Place::with_cluster();
    place.run(&["evict", "4", "--why", "x"]).refused(2, &["INVALID_ARGUMENT", "slot", "4", "0 to 3"]);
    place.run(&["evict", "1"]).refused(2, &["--why"]);
    place.run(&["evict", "1", "--why", ""]).refused(2, &["INVALID_ARGUMENT", "why"]);
    place.run(&["evict", "1", "--why", "x", "--for", "soon"]).refused(2, &["for", "soon"]);
}

#[test]
fn a_copied_directory_is_refused_until_an_operator_names_the_loss() {
    let place = Place::with_cluster();
    copy(&place.path("sequent-data"), &place.path("copy"));
    let ran = place.run(&["next", "order", "--data", "copy"]);
    ran.refused(3, &["sequent: RECOVERY_REQUIRED: ", "sequent recover --moved", "--bump"]);
    for args in [&["recover", "--data", "copy"][..], &["recover", "--moved", "--data", "copy"]] {
        let ran = place.run(args);
        assert!(ran.code == Some(3) && ran.err.contains("CONFIRMATION_REQUIRED"), "{ran:?}");
    }
    place.run(&["next", "order", "--data", "copy"]).refused(3, &["RECOVERY_REQUIRED"]);
    place.text(&["recover", "--moved", "--yes", "--data", "copy"]);
    let numbers = place.numbers(&["next", "order", "-n", "4", "--data", "copy"]);
    assert!(numbers.iter().all(|number| *number > 5), "{numbers:?}");
}

#[test]
fn an_older_copy_goes_on_above_the_loss() {
    let place = Place::with_cluster();
    copy(&place.path("sequent-data"), &place.path("backup"));
    assert_eq!(place.numbers(&["next", "order", "-n", "40"]).last(), Some(&45));
    fs::remove_dir_all(place.path("sequent-data")).unwrap();
    copy(&place.path("backup"), &place.path("sequent-data"));
    place.run(&["next", "order"]).refused(3, &["RECOVERY_REQUIRED"]);
    let said = place.text(&["recover", "--bump", "100", "--yes"]);
    assert!(said.contains("\n  order  version 1  start 1  step 1  end "), "what the copy knows: {said}");
    let numbers = place.numbers(&["next", "order", "-n", "4"]);
    assert!(numbers.iter().all(|number| *number > 45), "{numbers:?}");
}

#[test]
fn a_counter_in_quarantine_is_shown_by_shards_and_by_show() {
    let place = Place::with_cluster();
    let note = r#"{"slot":2,"key":"order","at_ms":1000,"kind":"jumped","detail":"jumped: raw id 9 is a jump","advice":"delete its cell"}"#;
    place.write("sequent-data/home.quarantine", &format!("{note}\n"));
    for args in [&["shards"][..], &["show", "order"]] {
        let text = place.text(args);
        let found = "slot 2 key order: quarantined, found 1970-01-01T00:00:01Z: jumped: raw id 9 is a jump\n";
        assert!(text.contains(found) && text.contains("what to do: delete its cell"), "{text}");
    }
    let shards = place.json(&["shards", "--json"]);
    let show = place.json(&["show", "order", "--json"]);
    for found in [&shards["slots"][2]["quarantined"][0], &show["quarantined"][0]] {
        assert_eq!((&found["slot"], &found["key"]), (&2.into(), &"order".into()), "{found}");
    }
    assert_eq!(shards["slots"][1]["quarantined"], serde_json::json!([]));
    place.text(&["rescue", "2", "--why", "set right"]);
    assert!(!place.text(&["shards"]).contains("quarantined"));
}

#[test]
fn a_marker_that_cannot_be_read_is_written_anew_by_recover() {
    let place = Place::with_cluster();
    place.write("sequent-data/home", "sequent/1 mark=3\n");
    place.run(&["next", "order"]).refused(3, &["sequent-data/home", "sequent recover --moved"]);
    assert_eq!(place.run(&["recover", "--moved"]).code, Some(3));
    let said = place.text(&["recover", "--moved", "--yes"]);
    assert!(said.contains("sequent-data/home could not be read, and was written again"), "{said}");
    assert!(place.numbers(&["next", "order"])[0] > 5);
}
