//! A heartbeat looks at what has changed, and forgets none of it: not while its call fails, or is under way.

use std::{sync::Arc, time::Duration};

use sequent_core::{Key, ledger::Counter};

use crate::harness::{Server, Setup, When, World, counter, key};

/// Keys that are alive and have nothing to say: more than a page of counters.
const QUIET: usize = 2_000;

fn key_of(number: usize) -> Key {
    Key::from_stored(&format!("repair/{number:06}"))
}

fn looks(server: &Server) -> u64 {
    server.guard.status().looks
}

/// Whether the ledger has seen all that left of [`key`].
fn is_told(world: &World) -> bool {
    (0..2).all(|slot| {
        let highest = world.highest(slot);
        highest == 0 || world.row(slot).seen == highest
    })
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_looks_at_what_has_changed_and_at_nothing_else() {
    let world = World::new(2);
    let server = world.open("server").await;
    for number in 0..QUIET {
        server.take_of(&key_of(number), 0, 1).await.unwrap();
        server.take_of(&key_of(number), 1, 1).await.unwrap();
    }
    assert_eq!(server.guard.status().unsaid, 2 * QUIET);
    server.heartbeat().await;
    assert_eq!(server.guard.status().unsaid, 0);
    let told = world.ledger.snapshot();
    let counters =
        (0..QUIET).flat_map(|number| (0..2).map(move |slot| Counter { slot, key: key_of(number) }));
    counters.for_each(|counter| assert_eq!(told.row(&counter).unwrap().seen, 1, "{counter:?}"));
    let before = looks(&server);
    server.heartbeat().await;
    assert_eq!(looks(&server), before, "nothing has changed");
    for number in [3, 700, 1999] {
        // The first asks for a higher ceiling, and tells with that.
        server.take_of(&key_of(number), 1, 1).await.unwrap();
        server.take_of(&key_of(number), 1, 1).await.unwrap();
    }
    server.heartbeat().await;
    assert_eq!(looks(&server), before + 3);
    server.drop_key(&key_of(9));
    server.heartbeat().await;
    assert_eq!(looks(&server), before + 5, "a key that was let go, of two counters");
}

#[tokio::test(start_paused = true)]
async fn what_left_is_told_though_show_ups_fail() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.wires.ledger.busy_for("heartbeat", 2);
    let before = server.wires.ledger.calls("heartbeat");
    while server.wires.ledger.calls("heartbeat") < before + 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(!is_told(&world), "both failed");
    server.heartbeat().await;
    assert!(is_told(&world));
}

#[tokio::test(start_paused = true)]
async fn what_leaves_while_a_report_is_under_way_is_told_with_the_next() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 50).await;
    let gate = server.wires.ledger.hold("heartbeat", When::After);
    gate.reached().await;
    // Below its ceiling, so that no raise tells of it.
    server.take(0, 1).await.unwrap();
    gate.open();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(!is_told(&world));
    server.heartbeat().await;
    assert!(is_told(&world));
}

#[tokio::test(start_paused = true)]
async fn the_last_report_is_exact_while_another_is_under_way() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 50).await;
    server.take_to(1, 7).await;
    let gate = server.wires.ledger.hold("heartbeat", When::Before);
    gate.reached().await;
    server.take(0, 1).await.unwrap();
    server.take(1, 1).await.unwrap();
    let closing = Arc::clone(&server);
    let closing = tokio::spawn(async move { closing.stop().await });
    tokio::time::sleep(Duration::from_millis(1)).await;
    gate.open();
    closing.await.unwrap();
    assert!(is_told(&world));
}

#[tokio::test(start_paused = true)]
async fn a_ceiling_follows_a_definition_that_reaches_further() {
    let world = World::new(2);
    let server = world.open_as("server", Setup { raw_max: 2_000, ..Setup::default() }).await;
    server.take_to(0, 100).await;
    server.heartbeat().await;
    let before = world.row(0).ceiling;
    let _further = server.guard.counters(&key(), 1 << 40).await.unwrap();
    server.heartbeat().await;
    let after = world.row(0).ceiling;
    assert!(after > before + 100, "{after} after {before}, though nobody took anything");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_let_go_is_forgotten_also_when_its_caller_went_away() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take(0, 1).await.unwrap();
    let gate = server.wires.ledger.hold("read", When::Before);
    let guard = Arc::clone(&server.guard);
    let other = Key::from_stored("other");
    let caller = tokio::spawn(async move { guard.counters(&other, 1 << 40).await.map(|_| ()) });
    gate.reached().await;
    assert_eq!(server.guard.status().counters.len(), 4);
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    server.heartbeat().await;
    assert_eq!(server.guard.status().counters.len(), 2, "those of the key in use");
    server.take(1, 3).await.unwrap();
    server.drop_key(&key());
    server.heartbeat().await;
    assert_eq!(server.guard.status().counters.len(), 0);
    assert!(is_told(&world), "before it was forgotten");
}

#[tokio::test(start_paused = true)]
async fn what_was_given_is_reported_to_the_next_instance_of_the_ledger_before_it_is_forgotten() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    world.ledger.restart();
    server.heartbeat().await;
    assert_eq!(server.guard.status().unsaid, 1, "this one found the next instance");
    server.drop_key(&key());
    server.heartbeat().await;
    assert_eq!((server.guard.status().unsaid, server.guard.status().counters.len()), (0, 0));
    assert_eq!(world.row_of(&counter(0)).unwrap().seen, world.highest(0));
}
