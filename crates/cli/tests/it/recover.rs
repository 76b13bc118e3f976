//! `recover --since`: what it works out, that it does nothing unasked, and what it refuses.

use std::time::SystemTime;

use sequent_engine::Timestamp;

use crate::place::Place;

fn now() -> String {
    Timestamp::try_from(SystemTime::now()).unwrap().to_string()
}

#[test]
fn a_loss_is_worked_out_printed_and_done_only_when_told() {
    let place = Place::with_cluster();
    let highest = *place.numbers(&["next", "order", "-n", "400"]).iter().max().unwrap();
    let since = now();
    let args = ["recover", "--since", &since, "--at-most-per-second", "1000"];
    let ran = place.run(&args);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let command = format!("--since {since} --at-most-per-second 1000 --yes");
    assert!(ran.err.contains("nothing was done: ") && ran.err.contains(&command), "{ran:?}");
    for words in ["1000 a second x (", " s since the copy + 17 restarts of ", "numbers repeat", "--yes"] {
        assert!(ran.out.contains(words), "{words}: {ran:?}");
    }
    let estimate = place.run(&[&args[..], &["--json"]].concat()).as_json();
    assert!(estimate["done"].is_null(), "{estimate}");
    let bump = estimate["estimate"]["bump"].as_u64().unwrap();
    assert!(bump >= 1000 * (10 + 17 * 1200), "{estimate}");
    let next = place.numbers(&["next", "order"])[0];
    assert!(next < highest + 100, "nothing was skipped: {next} after {highest}");
    let done = place.json(&[&args[..], &["--yes", "--json"]].concat());
    let bump = done["estimate"]["bump"].as_u64().unwrap();
    assert!(done["done"].as_str().unwrap().contains(&bump.to_string()), "{done}");
    let next = place.numbers(&["next", "order"])[0];
    assert!(next > bump * 4, "{next}, four slots and {bump} raw ids of each");
}

#[test]
fn what_can_t_be_worked_out_is_refused() {
    let since = |place: &Place, since: &str, more: &[&str]| {
        place.run(&[&["recover", "--since", since, "--at-most-per-second", "9000"], more].concat())
    };
    let place = Place::new();
    since(&place, &now(), &[]).refused(1, &["no cluster"]);
    let place = Place::with_cluster();
    since(&place, "yesterday", &[]).refused(2, &["since", "yesterday", "RFC 3339"]);
    since(&place, "2999-01-01T00:00:00Z", &[]).refused(2, &["since", "2999", "later instant"]);
    since(&place, "2020-01-01T00:00:00Z", &[]).refused(2, &["68719476736", "--at-most-per-second "]);
    place.run(&["recover", "--since", &now()]).refused(2, &["--at-most-per-second"]);
    place.run(&["recover", "--yes"]).refused(2, &["--since"]);
    place.run(&["recover", "--bump", "5", "--at-most-per-second", "5"]).refused(2, &["--at-most-per-second"]);
    since(&place, &now(), &["--bump", "5"]).refused(2, &["--bump"]);
}

#[test]
fn what_can_t_be_read_is_said_before_anything_is_done_and_must_be_named() {
    let place = Place::with_cluster();
    place.numbers(&["next", "order", "-n", "40"]);
    std::fs::remove_file(place.path("sequent-data/shard-2.db")).unwrap();
    let unread = |found: &serde_json::Value| found["marks"]["unread"][0]["slot"].clone();
    let since = now();
    let since = ["recover", "--since", &since, "--at-most-per-second", "100"];
    let looked = place.run(&since);
    assert!(looked.err.contains("slot 2: its mark can't be read: "), "{looked:?}");
    assert_eq!(unread(&place.run(&[&since[..], &["--json"]].concat()).as_json()), 2);
    for loss in [&["--moved"][..], &["--bump", "100"]] {
        let args = [&["recover"], loss].concat();
        place.run(&args).refused(3, &["slot 2: ", "`--without 2`", "nothing was done"]);
        let refused = place.run(&[&args[..], &["--json"]].concat()).error();
        assert!(refused["message"].as_str().unwrap().contains("`--without 2`"), "{refused}");
    }
    place.run(&["recover", "--moved", "--without", "7"]).refused(3, &["--without is 7", "0 to 3"]);
    let done = place.run(&["recover", "--bump", "100", "--without", "2", "--yes"]);
    assert!(done.code == Some(0) && done.err.contains("slot 2: its mark can't be read: "), "{done:?}");
    let done = place.json(&["recover", "--bump", "100", "--without", "2", "--yes", "--json"]);
    assert!(unread(&done) == 2 && done["done"].is_string(), "{done}");
    assert!(place.numbers(&["next", "order"])[0] > 45);
}

#[test]
fn where_nothing_was_lost_the_plan_is_printed_and_nothing_is_done_without_a_word() {
    let place = Place::with_cluster();
    let last = *place.numbers(&["next", "order", "-n", "40"]).iter().max().unwrap();
    for loss in [&["--moved"][..], &["--bump", "100"]] {
        let args = [&["recover"], loss].concat();
        let ran = place.run(&args);
        assert!(ran.code == Some(3) && ran.err.contains("nothing was done"), "{ran:?}");
        let line = format!("  order  last number before {last}  next ");
        assert!(
            ran.out.contains("nothing shows that anything was lost") && ran.out.contains(&line),
            "{ran:?}"
        );
        let plan = place.run(&[&args[..], &["--json"]].concat());
        assert_eq!(plan.code, Some(3), "{plan:?}");
        let said = plan.as_json();
        assert!(said["done"].is_null() && said["plan"]["keys"][0]["last_before"] == last, "{said}");
    }
    let next = place.numbers(&["next", "order"])[0];
    assert!(next < last + 100, "nothing was skipped: {next} after {last}");
    let done = place.json(&["recover", "--bump", "100", "--yes", "--json"]);
    let first = done["plan"]["keys"][0]["first_after"].as_u64().unwrap();
    assert!(done["done"].is_string() && place.numbers(&["next", "order"])[0] >= first, "{done}");
}

/// A cluster whose ledger and shard lie beside the data directory, as those of servers do.
fn elsewhere(place: &Place) -> String {
    let file = |name: &str| place.path(name).display().to_string();
    let text = format!(
        "auto_create = [\"*\"]\n[ring]\nshard_bits = 0\n[ledger]\npath = \"{}\"\n[[shard]]\nslot = 0\nstore = \"sqlite\"\npath = \"{}\"\n",
        file("ledger.db"),
        file("shard.db")
    );
    place.write("c.toml", &text).display().to_string()
}

fn ceiling(place: &Place, config: &str) -> u64 {
    let shown = place.json(&["show", "order", "--config", config, "--data", "data", "--json"]);
    shown["counters"][0]["ceiling"].as_str().unwrap().parse().unwrap()
}

#[test]
fn a_data_directory_that_is_not_there_is_made_before_any_ceiling_is_raised() {
    let place = Place::new();
    let config = elsewhere(&place);
    place.numbers(&["next", "order", "-n", "5", "--config", &config, "--data", "data"]);
    let before = ceiling(&place, &config);
    let bump =
        |data: &str| place.run(&["recover", "--bump", "1000", "--yes", "--config", &config, "--data", data]);
    std::fs::write(place.path("file"), "").unwrap();
    let refused = bump("file/data");
    assert!(refused.code != Some(0) && refused.err.contains("mark in "), "{refused:?}");
    assert_eq!(ceiling(&place, &config), before, "the ledger was not touched");
    let done = bump("new/data");
    assert!(done.code == Some(0) && place.path("new/data/home").exists(), "{done:?}");
    assert_eq!(ceiling(&place, &config), before + 1000, "once");
}
