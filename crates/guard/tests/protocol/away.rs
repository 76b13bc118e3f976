//! The ledger is away: who goes on, how far, and what happens when it is back.

use std::time::Duration;

use sequent_core::{Clock, DurabilityClass, ErrorKind, Event, Key};
use sequent_guard::GuardConfig;

use crate::harness::{Kind, Server, Setup, World, key};

/// Takes all that the ceiling permits, and notices that the wire is cut.
async fn uses_up(server: &Server) {
    while server.take(0, 1).await.is_ok() {}
}

fn ceiling(server: &Server) -> u64 {
    server.guard.status().counters[0].grant.expect("a grant").1
}

#[tokio::test(start_paused = true)]
async fn whatever_its_store_keeps_a_counter_stays_within_its_ceiling() {
    for class in [DurabilityClass::Durable, DurabilityClass::Lossy, DurabilityClass::Volatile] {
        let world = World::of(Kind { class, ..Kind::default() });
        let server = world.open("server").await;
        server.take_to(0, 5).await;
        let last = ceiling(&server);
        server.wires.ledger.cut();
        server.take_to(0, last).await;
        for _ in 0..3 {
            assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
        }
        assert_eq!(server.count(|event| matches!(event, Event::LedgerLost { .. })), 1);
        assert_eq!((world.highest(0), world.row(0).ceiling), (last, last));
        server.wires.ledger.mend();
        server.heartbeat().await;
        server.take(0, 1).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_outlived_by_four_fifths_of_what_is_set_though_the_rate_doubles() {
    let outage = Duration::from_secs(60);
    for twice in [1, 2] {
        for begun in [30, 61, 97, 128] {
            let world = World::new(2);
            let config = GuardConfig { outage, ..GuardConfig::default() };
            let server = world.open_as("server", Setup { config, ..Setup::default() }).await;
            for _ in 0..begun * 10 {
                server.take(0, 5).await.unwrap();
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            server.wires.ledger.cut();
            let lost = world.clock.now();
            while server.take(0, 5 * twice).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            let lasted = world.clock.now() - lost;
            assert!(lasted >= outage * 8 / 10, "{lasted:?} at {twice} times the rate, after {begun} s");
            assert!(lasted <= outage * 5 / 2, "{lasted:?}: no more is skipped than that needs");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn how_long_a_key_goes_on_is_known_before_and_while_the_ledger_is_away() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(server.guard.outage_left(&key(), |_| true), None, "nothing was taken");
    for _ in 0..600 {
        server.take(0, 5).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let left = async || {
        let mut least = None;
        server.guard.each_outage_left(|_, left| least = Some(left)).await;
        assert_eq!(least, server.guard.outage_left(&key(), |_| true), "one counter is in use");
        let none = server.guard.outage_left(&key(), |_| false);
        assert_eq!(
            none,
            Some(Duration::ZERO),
            "what is under the ceiling of a slot that does not serve is of no use"
        );
        least.unwrap().as_secs()
    };
    let (before, minute) = (left().await, 60);
    assert!((960..=1210).contains(&before), "{before}");
    server.wires.ledger.cut();
    for _ in 0..minute * 10 {
        server.take(0, 5).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let after = left().await;
    assert!((minute - 1..=minute + 1).contains(&(before - after)), "{before} before, {after} a minute later");
    tokio::time::sleep(Duration::from_secs(121)).await;
    assert_eq!(server.guard.outage_left(&key(), |_| true), None, "nobody asks any more");
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_was_restarted_is_back_as_soon_as_it_is_trusted() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.wires.ledger.cut();
    uses_up(&server).await;
    world.ledger.restart();
    server.wires.ledger.mend();
    let before = world.row(0).epoch;
    server.heartbeat().await;
    for _ in 0..300 {
        server.take(0, 1).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_ne!(world.row(0).epoch, before, "another instance: another epoch");
    assert_eq!(server.count(|event| matches!(event, Event::LedgerBack { .. })), 1);
}

#[tokio::test(start_paused = true)]
async fn an_epoch_that_another_server_began_tells_that_the_ledger_is_back() {
    let world = World::new(2);
    let (first, second) = (world.open("first").await, world.open("second").await);
    for server in [&first, &second] {
        server.take(0, 1).await.unwrap();
        server.wires.ledger.cut();
        uses_up(server).await;
    }
    let before = world.row(0).epoch;
    world.ledger.restart();
    first.wires.ledger.mend();
    first.heartbeat().await;
    for _ in 0..300 {
        first.take(0, 1).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_ne!(world.row(0).epoch, before, "the first server began another epoch");
    assert_eq!(second.count(|event| matches!(event, Event::LedgerBack { .. })), 0);
    second.wires.ledger.mend();
    second.take(0, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn settings_changed_under_a_running_store_count_as_soon_as_they_are_read_again() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let changed = |from: DurabilityClass, to: DurabilityClass| {
        server.count(|event| {
            matches!(event, Event::DurabilityChanged { slot: 0, was, is } if (*was, is.class) == (from, to))
        })
    };
    let (durable, lossy) = (DurabilityClass::Durable, DurabilityClass::Lossy);
    let shown = || server.guard.status().stores[0].2;
    world.stores[0].pose_as(lossy);
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!((shown(), changed(durable, lossy)), (lossy, 1));
    // Set right again: people see it, and what was acknowledged meanwhile counts as before.
    world.stores[0].pose_as(durable);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!((shown(), changed(lossy, durable)), (durable, 1));
}

#[tokio::test(start_paused = true)]
async fn a_counter_without_a_permit_needs_the_ledger() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take(0, 1).await.unwrap();
    let begin = world.clock.now();
    server.wires.ledger.hang();
    server.heartbeat().await;
    server.heartbeat().await;
    let noticed = world.clock.now();
    for _ in 0..9 {
        let new = server.take_of(&Key::from_stored("new"), 0, 1).await.unwrap_err();
        let untouched = server.take(1, 1).await.unwrap_err();
        assert_eq!((new.kind(), untouched.kind()), (ErrorKind::NoWitness, ErrorKind::NoWitness));
    }
    assert_eq!(world.clock.now(), noticed, "nobody waited for it again, {:?} after it hung", noticed - begin);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_hangs_is_waited_for_once() {
    // The loss is noticed by a take, or by a heartbeat whose call is already out.
    for ahead_of_the_take in [0, 1900, 2500] {
        let world = World::new(2);
        let server = world.open("server").await;
        server.take_to(0, 5).await;
        server.take_to(0, ceiling(&server)).await;
        server.wires.ledger.hang();
        tokio::time::sleep(Duration::from_millis(ahead_of_the_take)).await;
        let begin = world.clock.now();
        for _ in 0..100 {
            server.take(0, 1).await.unwrap_err();
        }
        let waited = world.clock.now() - begin;
        assert!(waited <= Duration::from_secs(1), "{waited:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_restarts_while_the_ledger_hangs_holds_nobody_up() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.wires.ledger.hang();
    server.heartbeat().await;
    world.stores[0].restart();
    let begin = world.clock.now();
    let taken = tokio::time::timeout(Duration::from_secs(60), server.take(0, 1)).await.expect("an answer");
    assert_eq!(taken.unwrap_err().kind(), ErrorKind::NoWitness);
    assert!(world.clock.now() - begin <= Duration::from_secs(2));
    server.wires.ledger.mend();
    server.heartbeat().await;
    server.take(0, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_outlived_by_several_servers_of_one_counter_as_by_one() {
    let (world, outage) = (World::new(2), Duration::from_secs(60));
    let config = GuardConfig { outage, ..GuardConfig::default() };
    let mut servers = Vec::new();
    for name in ["one", "two", "three", "four"] {
        servers.push(world.open_as(name, Setup { config, ..Setup::default() }).await);
    }
    for _ in 0..900 {
        for server in &servers {
            server.take(0, 5).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for server in &servers {
        server.wires.ledger.cut();
    }
    let lost = world.clock.now();
    let mut goes_on = true;
    while goes_on {
        for server in &servers {
            goes_on &= server.take(0, 5).await.is_ok();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let lasted = world.clock.now() - lost;
    assert!(lasted >= outage * 8 / 10, "{lasted:?} by four servers");
}
