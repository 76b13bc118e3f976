//! The ledger is away: who goes on, how far, and what happens when it is back.

use std::{sync::Arc, time::Duration};

use sequent_core::{Clock, DurabilityClass, ErrorKind, Event, Key};
use sequent_guard::{GuardConfig, LossPolicy};

use crate::harness::{Kind, Server, Setup, When, World, key};

/// Takes one id after the other until the wire has been found cut, and some more.
async fn goes_on(server: &Server, beyond: u64) -> u64 {
    let ceiling = ceiling(server);
    server.take_to(0, ceiling + beyond).await
}

fn ceiling(server: &Server) -> u64 {
    server.keeper.status().counters[0].permit.expect("a permit").1
}

fn dropped(server: &Server) -> usize {
    server.count(|event| matches!(event, Event::Dropped { .. }))
}

#[tokio::test(start_paused = true)]
async fn a_durable_shard_goes_on_with_what_is_taken_after_the_loss_was_noticed() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let last = ceiling(&server);
    server.wires.ledger.cut();
    goes_on(&server, 50).await;
    assert_eq!(dropped(&server), 1, "the block that was in hand when the loss was noticed");
    assert_eq!(server.unwitnessed(), 49, "of the fifty ids above {last}, one was dropped");
    assert_eq!(server.count(|event| matches!(event, Event::LedgerLost { .. })), 1);
    assert_eq!(world.row(0).ceiling, last);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_was_restarted_is_back_as_soon_as_it_is_trusted() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.wires.ledger.cut();
    goes_on(&server, 50).await;
    world.ledger.restart();
    server.wires.ledger.mend();
    let before = world.row(0).life;
    for _ in 0..300 {
        server.take(0, 1).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_ne!(world.row(0).life, before, "another incarnation: another life");
    assert_eq!(server.count(|event| matches!(event, Event::LedgerBack { .. })), 1);
}

#[tokio::test(start_paused = true)]
async fn a_life_that_another_server_began_tells_that_the_ledger_is_back() {
    let world = World::new(2);
    let (first, second) = (world.open("first").await, world.open("second").await);
    for server in [&first, &second] {
        server.take(0, 1).await.unwrap();
        server.wires.ledger.cut();
        goes_on(server, 50).await;
    }
    let before = world.row(0).life;
    world.ledger.restart();
    first.wires.ledger.mend();
    for _ in 0..300 {
        first.take(0, 1).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_ne!(world.row(0).life, before, "the first server began another life");
    assert_eq!(second.count(|event| matches!(event, Event::LedgerBack { .. })), 0);
    second.wires.ledger.mend();
    second.take(0, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_first_call_after_the_return_covers_what_left_without_it() {
    for outage in [1, 60, 3600] {
        let world = World::new(2);
        let server = world.open("server").await;
        server.take_to(0, 5).await;
        server.wires.ledger.cut();
        goes_on(&server, 50).await;
        tokio::time::sleep(Duration::from_secs(outage)).await;
        goes_on(&server, 90).await;
        let under = world.ledger.incarnation();
        server.wires.ledger.mend_for(1);
        server.shows_up().await;
        assert!(world.row(0).ceiling >= world.highest(0), "after {outage} s: {:?}", world.row(0));
        assert_eq!(server.count(|event| matches!(event, Event::LedgerBack { .. })), 1);
        server.wires.ledger.mend();
        server.shows_up().await;
        assert_eq!(world.ledger.incarnation(), under, "after {outage} s: it never went back");
        world.stores[0].empty();
        server.take(0, 1).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_volatile_shard_stays_within_its_ceiling() {
    for class in [DurabilityClass::Volatile, DurabilityClass::Lossy] {
        let world = World::of(Kind { class, ..Kind::default() });
        let server = world.open("server").await;
        server.take_to(0, 5).await;
        let last = ceiling(&server);
        server.wires.ledger.cut();
        server.take_to(0, last).await;
        for _ in 0..3 {
            assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
        }
        world.stores[0].empty();
        server.wires.ledger.mend();
        server.shows_up().await;
        server.take(0, 1).await.unwrap();
        assert_eq!(server.unwitnessed(), 0);
    }
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
    let shown = || server.keeper.status().stores[0].2;
    world.stores[0].pose_as(lossy);
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!((shown(), changed(durable, lossy)), (lossy, 1));
    // Set right again: people see it, and what was acknowledged meanwhile counts as before.
    world.stores[0].pose_as(durable);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!((shown(), changed(lossy, durable)), (durable, 1));
    server.wires.ledger.cut();
    server.take_to(0, ceiling(&server)).await;
    assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
    assert_eq!(server.unwitnessed(), 0);
    // From its next run on its settings were those from the start.
    server.wires.ledger.mend();
    world.stores[0].restart();
    server.shows_up().await;
    server.take(0, 1).await.unwrap();
    server.wires.ledger.cut();
    goes_on(&server, 50).await;
    assert!(server.unwitnessed() > 0);
}

#[tokio::test(start_paused = true)]
async fn the_policy_stop_keeps_durable_shards_within_their_ceilings() {
    let world = World::new(2);
    let config = GuardConfig { loss: LossPolicy::Stop, ..GuardConfig::default() };
    let server = world.open_as("server", Setup { config, ..Setup::default() }).await;
    server.take_to(0, 5).await;
    server.wires.ledger.cut();
    server.take_to(0, ceiling(&server)).await;
    for _ in 0..3 {
        assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
    }
    server.wires.ledger.mend();
    server.shows_up().await;
    server.take(0, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_counter_without_a_permit_needs_the_ledger() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take(0, 1).await.unwrap();
    let begin = world.clock.now();
    server.wires.ledger.hang();
    server.shows_up().await;
    server.shows_up().await;
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
    // The loss is noticed by a take, or by a show up whose call is already out.
    for ahead_of_the_take in [0, 1900, 2500] {
        let world = World::new(2);
        let server = world.open("server").await;
        server.take_to(0, 5).await;
        server.take_to(0, ceiling(&server)).await;
        server.wires.ledger.hang();
        tokio::time::sleep(Duration::from_millis(ahead_of_the_take)).await;
        let begin = world.clock.now();
        for _ in 0..100 {
            server.take(0, 1).await.unwrap();
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
    server.shows_up().await;
    world.stores[0].restart();
    let begin = world.clock.now();
    let taken = tokio::time::timeout(Duration::from_secs(60), server.take(0, 1)).await.expect("an answer");
    assert_eq!(taken.unwrap_err().kind(), ErrorKind::NoWitness);
    assert!(world.clock.now() - begin <= Duration::from_secs(2));
    server.wires.ledger.mend();
    server.shows_up().await;
    server.take(0, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_small_counter_that_went_far_without_the_ledger_is_no_leap() {
    let world = World::new(2);
    let server = world.open_as("server", Setup { raw_max: 100_000, ..Setup::default() }).await;
    server.take_to(0, 5).await;
    server.wires.ledger.cut();
    goes_on(&server, 3000).await;
    server.wires.ledger.mend();
    server.shows_up().await;
    assert!(world.row(0).ceiling >= world.highest(0), "{:?}", world.row(0));
    server.take(0, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_left_without_the_ledger_is_reported_though_the_permit_is_gone() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.wires.ledger.cut();
    goes_on(&server, 50).await;
    world.stores[0].restart();
    assert_eq!(
        server.take(0, 1).await.unwrap_err().kind(),
        ErrorKind::NoWitness,
        "a new permit needs the ledger"
    );
    server.wires.ledger.mend();
    server.shows_up().await;
    // The ledger has been back for long: what the store forgets now is covered.
    world.stores[0].empty();
    world.open("other").await.take(0, 100).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_was_restarted_is_told_what_left_though_nobody_asks_for_more() {
    for ends in [false, true] {
        let world = World::new(2);
        let server = world.open("server").await;
        server.take_to(0, 5).await;
        let copy = world.stores[0].snapshot();
        server.wires.ledger.cut();
        let highest = goes_on(&server, 50).await;
        world.ledger.restart();
        server.wires.ledger.mend();
        server.shows_up().await;
        server.shows_up().await;
        assert!(world.row(0).ceiling >= highest, "{:?}", world.row(0));
        if ends {
            drop(server);
        }
        // Long after its return, and nothing was asked of the counter since.
        world.stores[0].restore(copy);
        world.open("other").await.take(0, 100).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_dropped_while_the_ledger_is_away_still_reports_what_left() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.wires.ledger.cut();
    let highest = goes_on(&server, 50).await;
    server.drop_key(&key());
    tokio::time::sleep(Duration::from_secs(30)).await;
    server.wires.ledger.mend();
    server.shows_up().await;
    server.shows_up().await;
    assert!(world.row(0).ceiling >= highest && world.row(0).seen == highest);
    assert!(server.keeper.status().counters.is_empty(), "and then it is forgotten");
}

#[tokio::test(start_paused = true)]
async fn what_an_ended_life_owes_is_not_owed_for_ever() {
    let world = World::new(2);
    let (server, other) = (world.open("server").await, world.open("other").await);
    server.take_to(0, 5).await;
    server.take_to(0, ceiling(&server)).await;
    server.wires.ledger.cut();
    server.shows_up().await;
    server.wires.ledger.mend();
    // The ledger is back; before its answer is heard, more leaves without it, and before its version is marked, the
    // life of that has ended.
    let answer = server.wires.ledger.hold("show_up", When::After);
    answer.reached().await;
    server.take(0, 10_000).await.unwrap();
    assert_eq!(server.unwitnessed(), 10_000, "more than was just raised ahead");
    world.stores[0].restart();
    // So far that the one who joins waits for no raise.
    let base = other.take(0, 1).await.unwrap()[0];
    other.take_to(0, base + 5).await;
    let mark = server.wires.stores[1].hold("mark", When::Before);
    answer.open();
    mark.reached().await;
    server.take(0, 1).await.unwrap();
    assert_eq!(world.history(0).len(), 1, "it joined the life that the other one opened");
    mark.open();
    server.shows_up().await;
    server.drop_key(&key());
    server.shows_up().await;
    server.shows_up().await;
    assert!(server.keeper.status().counters.is_empty(), "it owes nothing, and is forgotten");
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_in_a_run_of_the_store_that_is_known_to_have_ended_does_not_leave_unwitnessed() {
    let world = World::new(2);
    let (server, witnessed) = (world.open("server").await, world.open("witnessed").await);
    let other = Key::from_stored("other");
    server.take_of(&other, 0, 1).await.unwrap();
    server.take_to(0, 5).await;
    server.take_to(0, ceiling(&server)).await;
    let copy = world.stores[0].snapshot();
    server.wires.ledger.cut();
    server.shows_up().await;
    let gate = server.wires.stores[0].hold("take", When::After);
    let taker = Arc::clone(&server);
    let late = tokio::spawn(async move { taker.take(0, 1).await });
    gate.reached().await;
    world.stores[0].restore(copy);
    server.take_of(&other, 0, 1).await.expect_err("its counter finds the store reborn");
    // A server that has the ledger gives what the restored store knows nothing of.
    witnessed.take(0, 1).await.unwrap();
    gate.open();
    late.await.unwrap().expect_err("the same id again");
    assert_eq!(server.unwitnessed(), 0);
}
