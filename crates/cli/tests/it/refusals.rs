//! What is refused, with exit code 3, before anything is touched.

use std::fs;

use crate::place::{Place, Ran};

#[test]
fn three_faults_are_named_at_once() {
    let place = Place::new();
    let file = place.write("sequent.toml", "colour = \"red\"\n[ring]\nshard_bits = 11\nslow_limit = 0\n");
    let file = file.to_str().unwrap();
    let said = ["colour", "ring.shard_bits", "11", "0 to 10", "ring.slow_limit"];
    place.run(&["config", "check", file]).refused(3, &said);
    place.run(&["next", "order", "--config", file]).refused(3, &said);
    let error = place.run(&["config", "check", file, "--json"]).refused(3, &[]).error();
    assert_eq!(error["errors"].as_array().unwrap().len(), 3, "{error}");
    assert!(!place.path("sequent-data").exists());
}

#[test]
fn a_good_configuration_passes() {
    let place = Place::new();
    let file =
        place.write("sequent.toml", "cluster = \"shop\"\n[[sequence]]\nname = \"order\"\nversion = 1\n");
    let said = place.text(&["config", "check", file.to_str().unwrap()]);
    assert!(said.contains("no faults"), "{said}");
    assert!(!place.path("sequent-data").exists(), "a check makes nothing");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let place = Place::new();
    place.run(&["config", "check", "no.toml"]).refused(3, &["no.toml"]);
    place.run(&["next", "order", "--config", "no.toml"]).refused(3, &["no.toml"]);
    place.write("broken.toml", "cluster = ");
    place.run(&["config", "check", "broken.toml"]).refused(3, &["broken.toml:1:"]);
}

#[test]
fn config_show_says_where_each_value_came_from() {
    let place = Place::new();
    place.write("sequent.toml", "[ring]\nslow_limit = 5\n");
    let shown = place.text(&["config", "show", "--config", "sequent.toml", "--data", "elsewhere"]);
    let line = |key: &str| {
        shown.lines().find(|line| line.starts_with(key)).unwrap_or_else(|| panic!("{key}: {shown}"))
    };
    assert_eq!(line("ring.slow_limit"), "ring.slow_limit = 5  # file");
    assert_eq!(line("ring.slow_window_s"), "ring.slow_window_s = 60  # default");
    let mut command =
        place.command(&["config", "show", "--config", "sequent.toml", "--set", "ring.shard_bits=3"]);
    let shown = Ran::from(command.env("SEQUENT_RING_SLOW_LIMIT", "7").output().unwrap()).out;
    assert!(shown.contains("ring.slow_limit = 7  # environment SEQUENT_RING_SLOW_LIMIT\n"), "{shown}");
    assert!(shown.contains("ring.shard_bits = 3  # flag\n"), "{shown}");
    assert!(!place.path("elsewhere").exists());
}

#[test]
fn a_variable_that_nothing_reads_is_warned_of() {
    let place = Place::new();
    let mut command = place.command(&["config", "show"]);
    let ran = Ran::from(command.env("SEQUENT_GUARD_AHEAD_S", "5").env("SEQUENT_DATA", "d").output().unwrap());
    assert_eq!((ran.code, ran.err.lines().count()), (Some(0), 1), "{}", ran.err);
    assert!(ran.err.starts_with("sequent: environment SEQUENT_GUARD_AHEAD_S is unknown: "), "{}", ran.err);
}

#[test]
fn embedded_never_means_never_a_new_one() {
    let place = Place::new();
    let ran = Ran::from(place.command(&["next", "order"]).env("SEQUENT_EMBEDDED", "never").output().unwrap());
    ran.refused(3, &["SEQUENT_EMBEDDED", "./sequent-data"]);
    assert!(!place.path("sequent-data").exists());
}

#[test]
fn only_next_and_bench_make_a_cluster() {
    let place = Place::new();
    for args in [
        &["list"][..],
        &["show", "order"],
        &["shards"],
        &["explain", "order", "1"],
        &["evict", "1", "--why", "x"],
        &["recover", "--moved"],
    ] {
        place.run(args).refused(1, &["sequent: NO_CLUSTER: ", "./sequent-data"]);
    }
    assert!(!place.path("sequent-data").exists());
}

#[test]
fn a_request_that_is_wrong_makes_no_cluster() {
    let place = Place::new();
    place.write(
        "t.toml",
        "[[sequence]]\nname = \"a\"\ntemplate = \"@{date,yyyy}-@{ctx,area,len=3}-@{seq,w=5}\"\n",
    );
    let next = |more: &[&str]| place.run(&[&["next", "a", "--config", "t.toml"], more].concat());
    next(&[]).refused(2, &["values.area is missing: the template needs it"]);
    next(&["--with", "area=01"]).refused(2, &["values.area is \"01\""]);
    next(&["--with", "area=010", "--with", "b=1"]).refused(2, &["values.b is \"1\""]);
    next(&["--with", "area=010", "--at", "soon"]).refused(2, &["at is \"soon\""]);
    place
        .run(&["next", "order", "--with", "area=010"])
        .refused(2, &["values.area is \"010\"", "leave it out"]);
    place.run(&["next", "order", "--at", "2026-01-01"]).refused(2, &["at is \"2026-01-01\"", "leave it out"]);
    assert!(!place.path("sequent-data").exists(), "a cluster was made");
    assert!(next(&["--with", "area=010"]).out.ends_with("-010-00001\n"), "nothing was consumed");
}

#[test]
fn another_layout_under_existing_data_is_refused_and_touches_nothing() {
    let place = Place::with_cluster();
    let before = place.content("sequent-data");
    for (key, value, held) in [("shard_bits", 3, "2"), ("memory_bits", 4, "0")] {
        place.write("sequent.toml", &format!("[ring]\n{key} = {value}\n"));
        let ran = place.run(&["next", "order", "--config", "sequent.toml"]);
        ran.refused(3, &[key, &value.to_string(), held]);
    }
    assert!(before == place.content("sequent-data"), "a file has changed");
    assert_eq!(place.numbers(&["next", "order"]), [6]);
}

#[test]
fn two_slots_on_one_file_are_refused() {
    let place = Place::new();
    let shard = |slot: u8| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"one.db\"\n");
    place.write("sequent.toml", &format!("[ring]\nshard_bits = 1\n{}{}", shard(0), shard(1)));
    let ran = place.run(&["next", "order", "--config", "sequent.toml"]);
    ran.refused(3, &["shard[1].path", "one.db", "shard[0].path is the same file"]);
    assert!(!place.path("one.db").exists() && !place.path("sequent-data").exists());
}

#[test]
fn the_file_of_another_cluster_is_refused() {
    let place = Place::with_cluster();
    place.numbers(&["next", "order", "--data", "other"]);
    let shards = |name: &str| {
        let mut files: Vec<_> =
            fs::read_dir(place.path(name)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        files.retain(|file| file.to_string_lossy().starts_with("shard-1"));
        files
    };
    for file in shards("sequent-data") {
        fs::remove_file(place.path("sequent-data").join(file)).unwrap();
    }
    for file in shards("other") {
        fs::copy(place.path("other").join(&file), place.path("sequent-data").join(&file)).unwrap();
    }
    let ran = place.run(&["next", "order"]);
    // The name is the same, the ledger is another one.
    ran.refused(
        3,
        &["slot 1", "bears stamp ledger=", "expected ledger=", "put back the ledger or the store"],
    );
}

#[test]
fn swapped_files_are_refused_naming_both_slots() {
    let place = Place::with_cluster();
    place.swap("sequent-data/shard-0.db", "sequent-data/shard-3.db");
    let said = ["slot 0", "stamp slot=3, expected slot=0", "the store of slot 3", "in its place"];
    place.run(&["next", "order"]).refused(3, &said);
    let shards = place.run(&["shards", "--json"]);
    let slots: serde_json::Value = serde_json::from_str(&shards.out).unwrap();
    let cause = slots["slots"][3]["cause"]["detail"].as_str().unwrap();
    assert!(cause.contains("stamp slot=0, expected slot=3"), "{cause}");
}
