//! `bench`: it measures, it checks, and it fails when a request fails.

use std::time::{Duration, Instant};

use crate::place::{Place, Ran};

#[test]
fn a_count_is_kept_and_every_number_is_checked() {
    let place = Place::new();
    let summary = place.json(&["bench", "order", "--count", "20000", "--tasks", "3", "--json"]);
    assert_eq!(summary["sequence"], "order");
    for (field, value) in
        [("requests", 20_000), ("numbers", 20_000), ("errors", 0), ("duplicates", 0), ("unchecked", 0)]
    {
        assert_eq!(summary[field], value, "{field} in {summary}");
    }
    let at = |name: &str| summary["latency_ns"][name].as_u64().unwrap();
    assert!(at("p50") <= at("p99") && at("p99") <= at("p99_9") && at("p99_9") <= at("max"), "{summary}");
    let next = place.numbers(&["next", "order"])[0];
    assert!(next > 20_000, "{next} was given by the bench");
}

#[test]
fn batches_and_a_rate() {
    let place = Place::with_cluster();
    let args = ["bench", "order", "--batch", "10", "--rate", "2000", "--count", "400", "--json"];
    let summary = place.json(&args);
    assert_eq!((&summary["requests"], &summary["numbers"]), (&400.into(), &4000.into()), "{summary}");
    assert!(summary["seconds"].as_f64().unwrap() >= 0.19, "400 requests at 2000 a second: {summary}");
}

#[test]
fn the_table_is_for_people() {
    let place = Place::with_cluster();
    let table = place.text(&["bench", "order", "--duration", "300ms"]);
    for name in ["sequence", "requests", "errors      0", "duplicates  0", "p50", "p99.9", "max"] {
        assert!(table.contains(name), "{name}: {table}");
    }
}

#[test]
fn arguments_out_of_bounds_touch_nothing() {
    let place = Place::new();
    for (flag, value) in
        [("--tasks", "0"), ("--tasks", "100000"), ("--batch", "0"), ("--rate", "0"), ("--duration", "fast")]
    {
        place.run(&["bench", "order", flag, value]).refused(2, &["INVALID_ARGUMENT", &flag[2..], value]);
    }
    assert!(!place.path("sequent-data").exists());
}

#[test]
fn a_word_reaches_a_running_bench_within_two_seconds_or_so_and_is_told() {
    let place = Place::with_cluster();
    let bench = place.spawn(&["bench", "order", "--rate", "200", "--duration", "8s", "--json"]);
    let started = Instant::now();
    std::thread::sleep(Duration::from_secs(1));
    place.text(&["evict", "1", "--why", "disk to be replaced"]);
    std::thread::sleep(Duration::from_millis(3500).saturating_sub(started.elapsed()));
    place.text(&["rescue", "1", "--why", "replaced"]);
    let ran = Ran::from(bench.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines =
        |words: &[&str]| ran.err.lines().filter(|line| words.iter().all(|word| line.contains(word))).count();
    assert_eq!(lines(&["slot evicted", "slot=1", "disk to be replaced"]), 1, "{ran:?}");
    assert_eq!(lines(&["slot rescued", "slot=1"]), 1, "{ran:?}");
    assert_eq!(lines(&["after 5 s: ", " requests/s, 0 errors, p50 "]), 1, "of eight seconds: {ran:?}");
    let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&summary["errors"], &summary["duplicates"]), (&0.into(), &0.into()), "{summary}");
}
