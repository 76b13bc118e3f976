//! A counter that is new: of servers that meet at it one begins it, and the others wait for that.

use std::{sync::Arc, time::Duration};

use sequent_core::{Cell, Clock, Epoch, ErrorKind, Event, Key, Store, ledger::Loss};
use sequent_guard::UNKNOWN_COUNTER;

use crate::harness::{Gate, Kind, MemoryStore, Server, Setup, When, World, counter, key};

const SERVERS: usize = 8;

fn epochs(server: &Server) -> usize {
    server.count(|event| matches!(event, Event::EpochOpened { .. }))
}

#[tokio::test(start_paused = true)]
async fn of_servers_that_meet_at_a_new_counter_one_begins_it() {
    for seed in 0..64 {
        let world = World::of(Kind { yields: true, seed, ..Kind::default() });
        let (mut servers, mut takers) = (Vec::new(), Vec::new());
        for _ in 0..SERVERS {
            let server = world.open("server").await;
            servers.push(Arc::clone(&server));
            takers.push(async move { server.take(0, 10).await.unwrap() });
        }
        let takers: Vec<_> = takers.into_iter().map(tokio::spawn).collect();
        let mut given = 0;
        for taker in takers {
            given += taker.await.unwrap().len() as u64;
        }
        assert_eq!(world.highest(0), given, "seed {seed}: nothing is skipped");
        assert_eq!(world.history(0), [], "seed {seed}: an epoch, and no claim in the history");
        assert_eq!(servers.iter().map(|server| epochs(server)).sum::<usize>(), 1, "seed {seed}");
    }
}

/// A server whose first take in slot 0 stands at this call, and goes on in a task.
async fn stands_at(world: &World, system: &str, verb: &'static str, when: When) -> (Arc<Server>, Gate) {
    let server = world.open("first").await;
    let wire = if system == "ledger" { &server.wires.ledger } else { &server.wires.stores[0] };
    let gate = wire.hold(verb, when);
    let taker = Arc::clone(&server);
    tokio::spawn(async move { taker.take(0, 1).await });
    gate.reached().await;
    (server, gate)
}

const STEPS: [(&str, &str, When); 7] = [
    ("ledger", "open", When::After),
    ("store", "close", When::Before),
    ("store", "close", When::After),
    ("store", "install", When::Before),
    ("store", "install", When::After),
    ("store", "take", When::Before),
    ("store", "take", When::After),
];

#[tokio::test(start_paused = true)]
async fn whoever_comes_while_a_counter_is_being_begun_joins_its_epoch() {
    for (system, verb, when) in STEPS {
        println!("{system} {verb} {when:?}");
        let world = World::new(2);
        let (first, gate) = stands_at(&world, system, verb, when).await;
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            gate.open();
        });
        world.open("second").await.take_to(0, 5).await;
        first.take_to(0, 10).await;
        assert_eq!(world.history(0), [], "one epoch served both");
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_is_slow_to_begin_a_counter_is_waited_for() {
    for (system, verb, when) in STEPS.into_iter().filter(|(_, verb, _)| *verb == "close") {
        for seed in 0..16 {
            println!("{system} {verb} {when:?}, seed {seed}");
            let world = World::of(Kind { seed, ..Kind::default() });
            let (first, gate) = stands_at(&world, system, verb, when).await;
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(900)).await;
                gate.open();
            });
            world.open("second").await.take_to(0, 5).await;
            first.take_to(0, 10).await;
            assert_eq!(world.history(0), [], "one epoch served both");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_dies_while_it_begins_a_counter_is_followed_after_an_attempt_and_a_half() {
    for (system, verb, when) in STEPS {
        println!("{system} {verb} {when:?}");
        let world = World::new(2);
        let (first, _gate) = stands_at(&world, system, verb, when).await;
        first.kill();
        let (second, begun) = (world.open("second").await, world.clock.now());
        second.take(0, 1).await.unwrap();
        let waited = world.clock.now() - begun;
        assert!(waited <= Duration::from_millis(1600), "{waited:?}");
        second.take_to(0, 5).await;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_sleeps_while_it_begins_a_counter_repeats_nothing() {
    for (system, verb, when) in STEPS {
        for forgets in [false, true] {
            println!("{system} {verb} {when:?}, the cell is deleted: {forgets}");
            let world = World::new(2);
            let (first, gate) = stands_at(&world, system, verb, when).await;
            let second = world.open("second").await;
            second.take_to(0, 20).await;
            if forgets {
                world.stores[0].delete(&key());
            }
            gate.open();
            tokio::time::sleep(Duration::from_secs(2)).await;
            first.take_to(0, 40).await;
            second.take_to(0, 60).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn two_servers_whose_claims_cross_begin_a_counter_once() {
    for order in [[0, 1], [1, 0]] {
        let world = World::new(2);
        let servers = [world.open("a").await, world.open("b").await];
        let mut gates = Vec::new();
        for server in &servers {
            gates.push(server.wires.ledger.hold("open", When::Before));
            let taker = Arc::clone(server);
            tokio::spawn(async move { taker.take(0, 1).await.unwrap() });
        }
        for gate in &gates {
            gate.reached().await;
        }
        for at in order {
            gates[at].open();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for server in &servers {
            server.take_to(0, 5).await;
        }
        assert_eq!(world.history(0), []);
        assert_eq!(
            servers.each_ref().map(|server| server.wires.stores[0].calls("close")).iter().sum::<usize>(),
            1
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_counter_costs_no_more_calls_than_before() {
    let world = World::new(4);
    let server = world.open("server").await;
    for slot in 0..4 {
        server.take(slot, 1).await.unwrap();
    }
    let calls = |verb| server.wires.ledger.calls(verb);
    assert_eq!(
        (calls("read"), calls("open")),
        (1, 8),
        "the rows of all slots; and a claim and an epoch of each"
    );
    tokio::time::sleep(Duration::from_secs(6)).await;
    let marks = |slot: usize| server.wires.stores[slot].calls("mark");
    let before: usize = (0..4).map(marks).sum();
    server.take_of(&Key::from_stored("other"), 0, 1).await.unwrap();
    assert_eq!((0..4).map(marks).sum::<usize>() - before, 1, "no id rests on a claim");
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_store_failed_it_does_not_wait_for_itself() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.wires.stores[0].busy_for("close", 1);
    server.take(0, 1).await.unwrap_err();
    let begun = world.clock.now();
    server.take(0, 1).await.unwrap();
    assert_eq!(world.clock.now(), begun);
}

#[tokio::test(start_paused = true)]
async fn a_claim_on_a_counter_whose_row_was_lost_says_nothing_of_it() {
    let world = World::new(2);
    let server = world.open("server").await;
    let copy = world.ledger.snapshot();
    server.take_to(0, 50).await;
    server.stop().await;
    world.ledger.restore(copy);
    world.recover(Loss::Bump(10)).await;
    let (epoch, under) = (Epoch::from_stored(1), world.stores[0].instance());
    let key = key();
    let cell = Cell { key: &key, under: &under };
    world.stores[0].close(cell, epoch).await.unwrap();
    world.stores[0].install(cell, epoch, 1 << 60).await.unwrap();
    let server = world.open_as("later", Setup { raw_max: 1 << 62, ..Setup::default() }).await;
    for _ in 0..2 {
        let error = server.take(0, 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Jumped, "{error}");
        assert!(error.to_string().contains(UNKNOWN_COUNTER), "{error}");
    }
    assert!(world.row_of(&counter(0)).unwrap().is_claim());
}

/// What befalls a store under many servers that count in it.
const LOSSES: [fn(&MemoryStore); 3] =
    [MemoryStore::restart, MemoryStore::empty, |store| assert!(store.delete(&key()))];

/// The ledger elects one of those that find no epoch, and the others join it, in whatever order they come.
#[tokio::test(start_paused = true)]
async fn of_servers_that_meet_at_a_store_that_forgot_one_begins_the_next_epoch() {
    for (loss, seed) in LOSSES.into_iter().flat_map(|loss| (0..64).map(move |seed| (loss, seed))) {
        let world = World::of(Kind { yields: true, seed, ..Kind::default() });
        let mut servers = Vec::new();
        for _ in 0..SERVERS {
            let server = world.open("server").await;
            server.take(0, 1).await.unwrap();
            servers.push(server);
        }
        loss(&world.stores[0]);
        let (before, begin) = (world.history(0).len(), world.clock.now());
        let take = |server: &Arc<Server>| {
            let server = Arc::clone(server);
            tokio::spawn(async move { server.take(0, 10).await.unwrap() })
        };
        for taker in servers.iter().map(take).collect::<Vec<_>>() {
            taker.await.unwrap();
        }
        let (epochs, waited) = (world.history(0).len() - before, world.clock.now() - begin);
        assert!(epochs <= 2, "seed {seed}: {epochs} epochs");
        assert!(waited < Duration::from_millis(500), "seed {seed}: {waited:?}");
    }
}

/// A server that read the row, and whose close comes when another has begun the next epoch and counts in it.
#[tokio::test(start_paused = true)]
async fn whoever_closes_a_cell_too_late_joins_the_epoch_that_its_opener_begins_again() {
    for opener_takes in [true, false] {
        let world = World::new(2);
        world.open("before").await.take_to(0, 5).await;
        world.stores[0].restart();
        let (late, gate) = stands_at(&world, "store", "close", When::Before).await;
        let opener = world.open("opener").await;
        opener.take(0, 1).await.unwrap();
        let (killed, begin) = (world.row(0).epoch, world.clock.now());
        gate.open();
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(world.row(0).epoch, killed, "the ledger holds what the opener has");
        let most = if opener_takes { 300 } else { 1600 };
        if opener_takes {
            opener.take(0, 1).await.unwrap();
        }
        late.take(0, 1).await.unwrap();
        let waited = world.clock.now() - begin;
        assert!(waited < Duration::from_millis(most), "the opener takes: {opener_takes}, {waited:?}");
        opener.take_to(0, 200).await;
    }
}
