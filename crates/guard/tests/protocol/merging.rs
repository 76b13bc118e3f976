//! What it costs: few ledger calls for many counters, and none for a number.

use std::{sync::Arc, time::Duration};

use sequent_core::Key;

use crate::harness::{Kind, Server, World, counter, key};

fn keys(count: usize) -> Vec<Key> {
    (0..count).map(|number| Key::from_stored(&format!("key{number}"))).collect()
}

/// Takes once of every key, all at the same time.
async fn take_of_all(server: &Arc<Server>, keys: &[Key]) {
    let takes: Vec<_> = keys
        .iter()
        .cloned()
        .map(|key| {
            let server = Arc::clone(server);
            tokio::spawn(async move { server.take_of(&key, 0, 1).await.unwrap() })
        })
        .collect();
    for take in takes {
        take.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_counters_open_and_raise_in_few_calls() {
    let world = World::of(Kind { yields: true, ..Kind::default() });
    let server = world.open("server").await;
    let keys = keys(100);
    take_of_all(&server, &keys).await;
    let opens = server.wires.ledger.calls("open");
    take_of_all(&server, &keys).await;
    let raises = server.wires.ledger.calls("raise");
    assert!((1..=5).contains(&opens) && (1..=5).contains(&raises), "{opens} opens, {raises} raises");
}

#[tokio::test(start_paused = true)]
async fn a_number_costs_no_ledger_call() {
    let world = World::new(2);
    let server = world.open("server").await;
    // A second of consumption, so that the ceilings follow the pace.
    for _ in 0..100 {
        server.take(0, 1).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.heartbeat().await;
    let (all, shown) = (server.wires.ledger.all_calls(), server.wires.ledger.calls("heartbeat"));
    let looks = server.wires.ledger.calls("inspect");
    for _ in 0..10_000 {
        server.take(0, 1).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let shown = server.wires.ledger.calls("heartbeat") - shown;
    let looks = server.wires.ledger.calls("inspect") - looks;
    let others = server.wires.ledger.all_calls() - all - looks;
    assert_eq!(others, 2 * shown, "nothing but heartbeats, and listening");
    assert!(looks <= 10, "{looks} looks at its settings in 100 seconds");
    assert_eq!(shown, 50, "once in two seconds");
}

#[tokio::test(start_paused = true)]
async fn an_idle_server_shows_up_once_in_two_seconds_and_writes_no_mark() {
    let world = World::new(2);
    let server = world.open("server").await;
    take_of_all(&server, &keys(5)).await;
    server.heartbeat().await;
    server.heartbeat().await;
    let marks = |server: &Server| server.wires.stores.iter().map(|wire| wire.calls("mark")).sum::<usize>();
    let before = (server.wires.ledger.all_calls(), marks(&server));
    tokio::time::sleep(Duration::from_secs(20)).await;
    let looks_at_the_settings = 2;
    let calls = before.0 + 10 + looks_at_the_settings;
    assert_eq!((server.wires.ledger.all_calls(), marks(&server)), (calls, before.1));
}

#[tokio::test(start_paused = true)]
async fn the_raises_of_a_heartbeat_are_marked_once() {
    let world = World::new(4);
    let server = world.open("server").await;
    for slot in 0..4 {
        server.take_to(slot, 5).await;
    }
    let marks = |server: &Server| server.wires.stores.iter().map(|wire| wire.calls("mark")).sum::<usize>();
    let before = marks(&server);
    server.heartbeat().await;
    assert_eq!(
        marks(&server) - before,
        4,
        "two bearers for the raises of every slot, and then the others, whatever the number of counters"
    );
}

#[tokio::test(start_paused = true)]
async fn a_dropped_key_is_forgotten_once_its_seen_is_reported() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 30).await;
    server.drop_key(&key());
    assert_eq!(server.guard.status().counters.len(), 2, "one counter a slot");
    server.heartbeat().await;
    server.heartbeat().await;
    assert!(server.guard.status().counters.is_empty());
    assert_eq!(world.row(0).seen, 30);
    let reads = server.wires.ledger.calls("read");
    assert_eq!(server.take(0, 1).await.unwrap(), [31], "it joins again");
    assert_eq!(server.wires.ledger.calls("read"), reads + 1);
}

#[tokio::test(start_paused = true)]
async fn a_clean_stop_makes_seen_exact_and_lets_nothing_leave() {
    let world = World::new(2);
    let server = world.open("server").await;
    for slot in 0..2 {
        server.take_to(slot, 17).await;
    }
    server.guard.close().await;
    for slot in 0..2 {
        assert_eq!(world.row_of(&counter(slot)).unwrap().seen, 17);
        server.take(slot, 1).await.unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn a_take_in_flight_at_the_stop_does_not_leave() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let gate = server.wires.stores[0].hold("take", crate::harness::When::After);
    let taker = Arc::clone(&server);
    let flight = tokio::spawn(async move { taker.take(0, 3).await });
    gate.reached().await;
    server.guard.close().await;
    gate.open();
    flight.await.unwrap().unwrap_err();
    assert_eq!(world.row(0).seen, 5);
}
