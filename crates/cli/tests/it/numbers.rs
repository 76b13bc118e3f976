//! `next`: what it gives, to whom, and in which shape.

use std::{collections::BTreeSet, io::Read, process::Stdio};

use crate::place::{Place, Ran};

#[test]
fn a_new_cluster_begins_at_1_and_the_next_process_goes_on() {
    let place = Place::new();
    let first = place.run(&["next", "order", "-n", "5"]);
    assert_eq!((first.code, first.out.as_str()), (Some(0), "1\n2\n3\n4\n5\n"));
    assert_eq!(first.err, "new embedded cluster in ./sequent-data: its numbers start at 1\n");
    let second = place.run(&["next", "order", "--count", "5"]);
    assert_eq!((second.code, second.out.as_str(), second.err.as_str()), (Some(0), "6\n7\n8\n9\n10\n", ""));
    assert_eq!(place.numbers(&["next", "order"]), [11]);
}

#[test]
fn sequences_share_nothing() {
    let place = Place::with_cluster();
    assert_eq!(place.numbers(&["next", "invoice", "-n", "2"]), [1, 2]);
    assert_eq!(place.numbers(&["next", "order"]), [6]);
}

#[test]
fn json_has_the_shape_that_scripts_rely_on() {
    let place = Place::new();
    let ran = place.run(&["next", "order", "-n", "3", "--json"]);
    assert_eq!(ran.out, "{\"sequence\":\"order\",\"numbers\":[\"1\",\"2\",\"3\"],\"version\":1}\n");
}

#[test]
fn ten_processes_at_once_get_different_numbers() {
    let place = Place::with_cluster();
    let processes: Vec<_> = (0..10).map(|_| place.spawn(&["next", "order", "-n", "50"])).collect();
    let mut seen: BTreeSet<u64> = (1..=5).collect();
    for process in processes {
        let ran = Ran::from(process.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let before = seen.len();
        seen.extend(ran.out.lines().map(|line| line.parse::<u64>().unwrap()));
        assert_eq!(seen.len(), before + 50, "{ran:?}");
    }
}

#[test]
fn ten_processes_at_once_make_one_new_cluster() {
    let place = Place::new();
    let processes: Vec<_> = (0..10).map(|_| place.spawn(&["next", "order"])).collect();
    let (mut seen, mut said) = (BTreeSet::new(), Vec::new());
    for process in processes {
        let ran = Ran::from(process.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(seen.insert(ran.out.trim().parse::<u64>().unwrap()), "twice: {ran:?}");
        said.push(ran.err);
    }
    said.retain(|said| !said.is_empty());
    assert_eq!(said, ["new embedded cluster in ./sequent-data: its numbers start at 1\n"], "one made it");
}

#[test]
fn the_directory_is_chosen_by_flag_then_by_environment() {
    let place = Place::new();
    place.text(&["next", "order", "--data", "a"]);
    let by_variable = place.command(&["next", "order"]).env("SEQUENT_DATA", "a").output().unwrap();
    assert_eq!(Ran::from(by_variable).out, "2\n");
    let both = place.command(&["next", "order", "--data", "b"]).env("SEQUENT_DATA", "a").output().unwrap();
    let both = Ran::from(both);
    assert_eq!(both.out, "1\n");
    assert_eq!(both.err, "new embedded cluster in b: its numbers start at 1\n");
    assert!(!place.path("sequent-data").exists());
}

#[test]
fn a_count_out_of_bounds_touches_nothing() {
    let place = Place::new();
    for count in ["0", "-1", "10001", "many", "18446744073709551616"] {
        let ran = place.run(&["next", "order", "-n", count]);
        ran.refused(2, &[&format!("sequent: INVALID_ARGUMENT: count is {count:?}: 1 to 10000 are allowed")]);
    }
    assert!(!place.path("sequent-data").exists(), "no cluster is made for an argument that is wrong");
    let ran = place.run(&["next", "order", "-n", "0", "--json"]).refused(2, &[]);
    let error = ran.error();
    assert_eq!(error["reason"], "INVALID_ARGUMENT");
    let field = serde_json::json!([{"field": "count", "value": "0", "bound": "1 to 10000 are allowed"}]);
    assert_eq!(error["errors"], field);
    assert_eq!(place.numbers(&["next", "order"]), [1], "none was consumed");
}

#[test]
fn a_bad_name_is_refused_before_anything_is_made() {
    let place = Place::new();
    let ran = place.run(&["next", "../order"]);
    ran.refused(2, &["sequent: INVALID_ARGUMENT: ", "name", "'.' at byte 0"]);
    assert!(!place.path("sequent-data").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let place = Place::with_cluster();
    let mut process = place.command(&["next", "order", "-n", "10000"]);
    let mut process = process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(process.stdout.take());
    let mut said = String::new();
    process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((process.wait().unwrap().code(), said.as_str()), (Some(1), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_full_is_said() {
    let place = Place::with_cluster();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = Ran::from(place.command(&["next", "order"]).stdout(full).output().unwrap());
    ran.refused(1, &["standard output", "No space left on device"]);
}
