//! A ring grows under processes of the layout before, one of which sleeps through it.

use std::{fs, thread, time::Duration};

use crate::{
    place::{Place, Running, eventually},
    seen::Seen,
};

/// How often it is tried again where the sleeper was stopped with a lock of SQLite's in its hand.
const TRIES_MAX: u32 = 50;

/// A configuration of a ring of 2^n, each slot in its file.
fn write(place: &Place, name: &str, n: u8) {
    let shard = |slot| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"shard-{slot}.db\"\n");
    let shards: String = (0..1_u16 << n).map(shard).collect();
    let text = format!("cluster = \"x\"\nauto_create = [\"*\"]\n[ring]\nshard_bits = {n}\n{shards}");
    fs::write(place.path(name), text).unwrap();
}

fn taker(place: &Place, config: &str) -> Running {
    place.start_taker_with(&["--config", config], "order", 7, 2)
}

fn takes_more(what: &str, taker: &Running) {
    let before = taker.numbers().len();
    taker.until(what, |taker| (taker.numbers().len() > before + 300).then_some(()));
}

/// Whether a process of the layout before has been told so.
fn hears(taker: &Running) {
    let said =
        |taker: &Running| taker.err().contains("error: RECOVERY_REQUIRED layout changed: ").then_some(());
    taker.until("it is refused with a clear error", said);
}

/// Grows the ring while `sleeper` is stopped; that one goes on only for a moment at a time, where it holds a lock.
fn grow(place: &Place, sleeper: &Running) -> serde_json::Value {
    for _ in 0..TRIES_MAX {
        sleeper.signal("STOP");
        let ran = place.run(&["resize", "--config", "next.toml", "--go", "--json"]);
        if ran.code != Some(4) {
            return ran.succeeded().json();
        }
        println!("once more: {}", ran.err);
        sleeper.signal("CONT");
        thread::sleep(Duration::from_millis(5));
    }
    panic!("the sleeper held a lock each of {TRIES_MAX} times");
}

#[test]
fn a_ring_grows_under_load_and_an_old_server_that_slept_repeats_nothing() {
    let place = Place::new();
    write(&place, "old.toml", 1);
    write(&place, "next.toml", 2);
    let mut seen = Seen::default();
    seen.add("first", place.numbers(&["next", "order", "-n", "5", "--config", "old.toml"]));
    let (awake, sleeper) = (taker(&place, "old.toml"), taker(&place, "old.toml"));
    let free = [
        "--set",
        "listen.grpc=127.0.0.1:0",
        "--set",
        "listen.http=127.0.0.1:0",
        "--set",
        "listen.redis=127.0.0.1:0",
        "--set",
        "listen.admin=127.0.0.1:0",
    ];
    let server = place.start(&[&["serve", "--json", "--config", "old.toml"][..], &free].concat());
    let address = server.until("a server says where it is", |server| {
        let out = server.out();
        let line: serde_json::Value = serde_json::from_str(out.lines().next()?).ok()?;
        Some(format!("http://{}", line["grpc"].as_str()?))
    });
    let at_the_server = || place.run(&["next", "order", "-n", "3", "--server", &address]);
    seen.add("a client", at_the_server().succeeded().numbers());
    for taker in [&awake, &sleeper] {
        takes_more("the old ones take", taker);
    }
    let plan = place.run(&["resize", "--config", "next.toml", "--json"]).succeeded().json();
    assert_eq!((&plan["state"], &plan["added"]), (&"new".into(), &serde_json::json!([2, 3])), "{plan}");

    let done = grow(&place, &sleeper);
    // Whoever asks once more finds what the try before has done.
    assert!(["current", "in_force"].map(Into::into).contains(&done["state"]), "{done}");
    let new = [taker(&place, "next.toml"), taker(&place, "next.toml")];
    for taker in &new {
        takes_more("the new ones take", taker);
    }
    hears(&awake);
    eventually("the old server refuses its clients", || match at_the_server() {
        ran if ran.code == Some(0) => {
            seen.add("a client", ran.numbers());
            None
        }
        ran => Some(
            ran.refused(3, &["RECOVERY_REQUIRED", "layout changed: this server counts by the layout before"]),
        ),
    });
    sleeper.signal("CONT");
    hears(&sleeper);
    for taker in &new {
        takes_more("the new ones take on", taker);
    }

    let slept = sleeper.kill().numbers();
    let last_before = slept.iter().max().copied().unwrap();
    seen.add("awake", awake.kill().numbers());
    seen.add("sleeper", slept);
    for taker in new {
        let numbers = taker.kill().numbers();
        assert!(numbers.iter().all(|number| *number > last_before), "above all that was given");
        seen.add("new", numbers);
    }
    println!("{} numbers, each once", seen.count());
}
