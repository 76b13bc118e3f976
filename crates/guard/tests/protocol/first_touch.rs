//! First touch: who joins, who opens a new epoch, and what is skipped.

use std::{sync::Arc, time::Duration};

use sequent_core::{Cell, Clock, ErrorKind, Event, Store};

use crate::harness::{Kind, MemoryStore, Server, Setup, When, Wires, World, key};

/// What may befall a store.
type Fault = fn(&MemoryStore, sequent_backend::memory::Cells);

const FAULTS: [(&str, Fault); 4] = [
    ("restarted intact", |store, _| store.restart()),
    ("restored from an old copy", |store, copy| store.restore(copy)),
    ("restarted empty", |store, _| store.empty()),
    ("its cell deleted", |store, _| assert!(store.delete(&key()))),
];

#[tokio::test(start_paused = true)]
async fn a_clean_restart_skips_nothing() {
    let world = World::new(2);
    let first = world.open("first").await;
    assert_eq!(first.take(0, 2).await.unwrap(), [1, 2]);
    first.stop().await;
    let second = world.open("second").await;
    assert_eq!(second.take(0, 3).await.unwrap(), [3, 4, 5]);
    assert_eq!(world.history(0), [], "it joined the epoch that it found");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_once_wastes_nothing() {
    let world = World::new(2);
    for highest in [2, 4, 6] {
        let server = world.open("server").await;
        server.take(0, 2).await.unwrap();
        server.stop().await;
        let row = world.row(0);
        assert_eq!((row.ceiling, row.seen), (highest, highest));
    }
}

#[tokio::test(start_paused = true)]
async fn one_read_serves_the_first_touch_of_every_slot() {
    let world = World::new(4);
    let before = world.open("before").await;
    for slot in 0..4 {
        before.take(slot, 1).await.unwrap();
    }
    before.stop().await;
    let server = world.open("server").await;
    for slot in 0..4 {
        assert_eq!(server.take(slot, 1).await.unwrap(), [2]);
    }
    assert_eq!((server.wires.ledger.calls("read"), server.wires.ledger.calls("open")), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_may_have_forgotten_begins_an_epoch_above_the_ceiling() {
    for (what, fault) in FAULTS {
        for restarted in [false, true] {
            println!("{what}, server restarted: {restarted}");
            let world = World::new(2);
            let mut server = world.open("server").await;
            server.take_to(0, 5).await;
            let copy = world.stores[0].snapshot();
            server.take_to(0, 50).await;
            if restarted {
                server.stop().await;
                server = world.open("restarted").await;
            }
            let before = world.row(0);
            fault(&world.stores[0], copy);
            let next = server.take(0, 1).await.unwrap();
            let row = world.row(0);
            assert!(next[0] > before.ceiling && row.base >= before.ceiling, "{next:?} after {before:?}");
            assert_ne!(row.epoch, before.epoch);
            assert_eq!(
                server.count(|event| matches!(event, Event::EpochOpened { .. })),
                1 + usize::from(!restarted)
            );
            server.take_to(0, row.base + 300).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_comes_back_empty_is_stamped_again() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take(0, 1).await.unwrap();
    world.stores[0].empty();
    server.take(0, 1).await.unwrap();
    assert!(world.stores[0].snapshot().stamped().is_some());
    assert_eq!(server.count(|event| matches!(event, Event::StampedAgain { slot: 0 })), 1);
}

#[tokio::test(start_paused = true)]
async fn servers_that_start_together_stamp_the_stores_together() {
    let world = World::of(Kind { slots: 4, yields: true, ..Kind::default() });
    let (a, b) = tokio::join!(world.open("a"), world.open("b"));
    for server in [a, b] {
        assert!(server.outside.is_empty(), "{:?}", server.outside);
    }
}

/// A server whose install, in slot 0, has not reached the store; its take goes on in a task.
async fn opened_but_not_installed(world: &World) -> (Arc<Server>, crate::harness::Gate) {
    let server = world.open("opener").await;
    let gate = server.wires.stores[0].hold("install", When::Before);
    let opener = Arc::clone(&server);
    tokio::spawn(async move { opener.take(0, 1).await });
    gate.reached().await;
    (server, gate)
}

#[tokio::test(start_paused = true)]
async fn an_epoch_whose_opener_died_is_waited_for_an_attempt_and_a_half_at_most() {
    let world = World::new(2);
    let (opener, _gate) = opened_but_not_installed(&world).await;
    opener.kill();
    let dead = world.row(0).epoch;
    let server = world.open("server").await;
    let begin = world.clock.now();
    server.take(0, 1).await.unwrap();
    let waited = world.clock.now() - begin;
    assert!(waited <= Duration::from_millis(1600), "{waited:?}");
    assert_ne!(world.row(0).epoch, dead);
}

#[tokio::test(start_paused = true)]
async fn a_slow_opener_is_waited_for_and_joined() {
    let world = World::new(2);
    let (_opener, gate) = opened_but_not_installed(&world).await;
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        gate.open();
    });
    let server = world.open("server").await;
    server.take(0, 1).await.unwrap();
    assert_eq!(world.history(0), [], "one epoch served both");
}

#[tokio::test(start_paused = true)]
async fn an_install_that_arrives_after_its_epoch_ended_is_refused() {
    let world = World::new(2);
    let (opener, gate) = opened_but_not_installed(&world).await;
    let server = world.open("server").await;
    let late = world.row(0);
    server.take_to(0, 30).await;
    let cell = world.cell(0);
    let under = world.stores[0].instance();
    let arrives = Cell { key: &key(), under: &under };
    let stray = world.stores[0].install(arrives, late.epoch, late.base).await.unwrap_err();
    assert_eq!(stray.kind(), ErrorKind::Regressed);
    assert_eq!(world.cell(0), cell, "untouched");
    gate.open();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.cell(0).epoch, world.row(0).epoch, "its server joined the epoch in force");
    opener.take_to(0, 40).await;
}

#[tokio::test(start_paused = true)]
async fn two_servers_at_first_touch_do_not_duel_for_ever() {
    for seed in 0..64 {
        let world = World::of(Kind { yields: true, seed, ..Kind::default() });
        let servers = [world.open("a").await, world.open("b").await];
        let [a, b] = servers.each_ref().map(|server| async move {
            for _ in 0..20 {
                server.take(0, 1).await.unwrap();
            }
        });
        tokio::join!(a, b);
        let epochs = world.history(0).len() + 1;
        assert!(epochs <= 3, "seed {seed}: {epochs} epochs");
    }
}

#[tokio::test(start_paused = true)]
async fn two_servers_find_a_restarted_store_together() {
    for seed in 0..64 {
        let world = World::of(Kind { yields: true, seed, ..Kind::default() });
        let servers = [world.open("a").await, world.open("b").await];
        for server in &servers {
            server.take_to(0, 5).await;
        }
        world.stores[0].empty();
        let [a, b] = servers.each_ref().map(|server| async move {
            for _ in 0..20 {
                server.take(0, 1).await.unwrap();
            }
        });
        tokio::join!(a, b);
        let epochs = world.history(0).len() + 1;
        assert!(epochs <= 4, "seed {seed}: {epochs} epochs");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_closed_while_the_ledger_is_known_to_be_away() {
    let world = World::new(2);
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    world.stores[0].restart();
    // What b reads now names the store's old run. A new epoch begins; then b, and b alone, loses the ledger.
    let b = world.open("b").await;
    b.source(&key(), 0).await.unwrap();
    a.take_to(0, 20).await;
    b.wires.ledger.cut();
    b.heartbeat().await;
    assert_eq!(b.take(0, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
    assert_eq!((world.cell(0).epoch, world.cell(0).open), (world.row(0).epoch, true));
}

#[tokio::test(start_paused = true)]
async fn a_store_with_another_clusters_stamp_is_refused() {
    let world = World::new(2);
    let other = World::of(Kind { seed: 2, ..Kind::default() });
    other.open("other").await.stop().await;
    world.open("server").await.stop().await;
    world.stores[0].restore(other.stores[0].snapshot());
    let server = Server::open(&world, "again", Setup::default(), Wires::new(2)).await.unwrap();
    let (slot, error) = &server.outside[0];
    assert_eq!((*slot, error.kind(), server.outside.len()), (0, ErrorKind::Refused, 1));
    // It has not been enlisted: the ledger must not take its calls for those of a history that was lost.
    let under = world.ledger.instance();
    assert_eq!(server.take(1, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
    server.heartbeat().await;
    assert_eq!((world.ledger.instance(), server.wires.ledger.calls("heartbeat")), (under, 0));
}

#[tokio::test(start_paused = true)]
async fn a_counter_whose_cell_is_being_closed_holds_no_permit() {
    let world = World::new(2);
    let server = world.open("server").await;
    let other = sequent_core::Key::from_stored("other");
    server.take_of(&other, 0, 1).await.unwrap();
    server.take_to(0, 5).await;
    world.stores[0].restart();
    server.take_of(&other, 0, 1).await.unwrap();
    let gate = server.wires.ledger.hold("open", When::Before);
    let taker = Arc::clone(&server);
    let take = tokio::spawn(async move { taker.take(0, 1).await });
    gate.reached().await;
    let grant = |key| {
        let counters = server.guard.status().counters;
        counters
            .into_iter()
            .find(|status| status.counter.key == key && status.counter.slot == 0)
            .unwrap()
            .grant
    };
    assert!(grant(other).is_some());
    assert_eq!(grant(key()), None, "nothing may be raised ahead for an epoch whose cell is closed");
    gate.open();
    take.await.unwrap().unwrap();
}
