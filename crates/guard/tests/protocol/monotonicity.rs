//! A counter set back under its own epoch and instance: what this process, and its neighbours, notice.

use std::{sync::Arc, time::Duration};

use sequent_core::{Event, Key, ledger::Loss};

use crate::harness::{Server, Setup, When, World, key};

fn regressions(server: &Server) -> usize {
    server.count(|event| matches!(event, Event::Regressed { slot: 0, .. }))
}

fn regressions_told(server: &Server) -> Vec<String> {
    let told = |event| match event {
        Event::Regressed { slot: 0, detail, .. } => Some(detail),
        _ => None,
    };
    server.events().into_iter().filter_map(told).collect()
}

#[tokio::test(start_paused = true)]
async fn a_counter_set_back_in_use_begins_a_new_epoch() {
    for by_hand in [true, false] {
        let world = World::new(2);
        let server = world.open("server").await;
        server.take_to(0, 10).await;
        let copy = world.stores[0].snapshot();
        server.take_to(0, 50).await;
        let before = world.row(0);
        if by_hand {
            assert!(world.stores[0].set_value(&key(), 10));
        } else {
            world.stores[0].restore_in_place(copy);
        }
        assert!(server.take(0, 1).await.unwrap()[0] > before.ceiling);
        assert_ne!(world.row(0).epoch, before.epoch);
        assert_eq!(regressions_told(&server).len(), 1, "{:?}", regressions_told(&server));
        server.take_to(0, before.ceiling + 300).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_shard_set_back_in_use_is_noticed_within_two_seconds_though_nobody_takes() {
    let (other, early) = (Key::from_stored("other"), Key::from_stored("early"));
    for (copied_after_it_began, expected) in [(true, "found at 10"), (false, "found at 0")] {
        let world = World::new(2);
        let server = world.open("server").await;
        server.take_of(&early, 0, 5).await.unwrap();
        if copied_after_it_began {
            server.take_to(0, 10).await;
        }
        let copy = world.stores[0].snapshot();
        server.take_to(0, 50).await;
        server.take_of(&other, 1, 5).await.unwrap();
        let before = world.row(0);
        world.stores[0].restore_in_place(copy);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let details = regressions_told(&server);
        assert!(!details.is_empty() && details.iter().all(|told| told.contains(expected)), "{details:?}");
        assert!(server.take(0, 1).await.unwrap()[0] > before.ceiling);
        assert_eq!(server.take_of(&early, 0, 1).await.unwrap(), [6], "what the copy holds goes on");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_noticed_and_could_not_be_mended_is_told_at_the_close() {
    let world = World::new(2);
    let first = world.open("first").await;
    first.take_to(0, 50).await;
    assert!(world.stores[0].set_value(&key(), 10));
    // The look back gets through; the close of the epoch that follows from it does not.
    first.wires.stores[0].mend_for(1);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(regressions(&first), 1);
    first.stop().await;
    let second = world.open("second").await;
    assert!(second.take(0, 1).await.unwrap()[0] > 50);
}

#[tokio::test(start_paused = true)]
async fn a_look_back_takes_nothing_and_disturbs_nobody() {
    let world = World::new(1);
    let (a, b) = (world.open("a").await, world.open("b").await);
    a.take_to(0, 5).await;
    b.take(0, 1).await.unwrap();
    let epoch = world.row(0).epoch;
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(700)).await;
        a.take(0, 1).await.unwrap();
        b.take(0, 2).await.unwrap();
    }
    assert_eq!((world.highest(0), world.row(0).epoch), (66, epoch), "consecutive, in one epoch");
    assert_eq!(regressions(&a) + regressions(&b), 0);
}

#[tokio::test(start_paused = true)]
async fn a_block_that_comes_back_during_a_look_back_is_no_regression() {
    let world = World::new(1);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let gate = server.wires.stores[0].hold("lift", When::After);
    gate.reached().await;
    server.take_to(0, 50).await;
    gate.open();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(regressions(&server), 0);
    assert_eq!(server.take(0, 1).await.unwrap(), [51]);
}

#[tokio::test(start_paused = true)]
async fn a_counter_set_back_across_a_clean_restart_is_noticed() {
    let world = World::new(2);
    let first = world.open("first").await;
    first.take_to(0, 50).await;
    first.stop().await;
    assert!(world.stores[0].set_value(&key(), 10));
    let second = world.open("second").await;
    assert!(second.take(0, 1).await.unwrap()[0] > 50);
    assert!(regressions(&second) >= 1);
}

#[tokio::test(start_paused = true)]
async fn a_counter_set_back_across_a_crash_is_noticed_as_far_as_it_was_reported() {
    let world = World::new(2);
    let first = world.open("first").await;
    first.take_to(0, 50).await;
    first.heartbeat().await;
    first.kill();
    assert!(world.stores[0].set_value(&key(), 10));
    let second = world.open("second").await;
    assert!(second.take(0, 1).await.unwrap()[0] > 50);
}

#[tokio::test(start_paused = true)]
async fn neighbours_hear_of_it_at_their_next_heartbeat() {
    let world = World::new(2);
    let (a, b) = (world.open("a").await, world.open("b").await);
    a.take_to(0, 20).await;
    b.take(0, 1).await.unwrap();
    b.heartbeat().await;
    a.take_to(0, 60).await;
    a.heartbeat().await;
    assert!(world.stores[0].set_value(&key(), 30));
    b.take(0, 5).await.unwrap();
    b.heartbeat().await;
    b.take_to(0, world.highest(0) + 200).await;
    a.take_to(0, world.highest(0) + 200).await;
    assert!(regressions(&a) + regressions(&b) >= 1);
}

/// A take of three ids whose answer is held back, and the gate that holds it.
async fn in_flight(server: &Arc<Server>) -> (tokio::task::JoinHandle<Vec<u64>>, crate::harness::Gate) {
    let gate = server.wires.stores[0].hold("take", When::After);
    let taker = Arc::clone(server);
    let flight = tokio::spawn(async move { taker.take(0, 3).await.unwrap() });
    gate.reached().await;
    (flight, gate)
}

#[tokio::test(start_paused = true)]
async fn takes_in_flight_together_may_come_back_in_any_order() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let (early, gate) = in_flight(&server).await;
    assert_eq!(server.take(0, 3).await.unwrap(), [9, 10, 11]);
    gate.open();
    assert_eq!(early.await.unwrap(), [6, 7, 8]);
    assert_eq!(regressions(&server), 0);
}

#[tokio::test(start_paused = true)]
async fn a_block_in_flight_that_overlaps_what_came_back_meanwhile_is_dropped() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let (early, gate) = in_flight(&server).await;
    assert!(world.stores[0].set_value(&key(), 6));
    assert_eq!(server.take(0, 3).await.unwrap(), [7, 8, 9]);
    gate.open();
    assert!(early.await.unwrap()[0] > 9);
    assert_eq!(regressions(&server), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_burns_its_ids_and_nothing_else() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let (gone, _gate) = in_flight(&server).await;
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    assert_eq!(server.take(0, 3).await.unwrap(), [9, 10, 11]);
    assert_eq!(regressions(&server), 0);
}

#[tokio::test(start_paused = true)]
async fn a_lift_moves_forward_under_the_permit_and_never_creates() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let source = server.source(&key(), 0).await.unwrap();
    source.lift(100).await.unwrap();
    assert_eq!(server.take(0, 1).await.unwrap(), [101]);
    source.lift(50).await.unwrap();
    assert_eq!(server.take(0, 1).await.unwrap(), [102], "never back");
    assert!(world.stores[0].delete(&key()));
    source.lift(200).await.unwrap();
    assert!(world.stores[0].snapshot().cell(&key()).is_none());
    let ceiling = world.row(0).ceiling;
    assert!(server.take(0, 1).await.unwrap()[0] > ceiling);
}

#[tokio::test(start_paused = true)]
async fn an_epoch_that_nobody_counted_in_is_no_regression() {
    let world = World::new(2);
    let first = world.open("first").await;
    first.take_to(0, 5).await;
    world.stores[0].restart();
    let gate = first.wires.stores[0].hold("install", When::Before);
    let opener = Arc::clone(&first);
    tokio::spawn(async move { opener.take(0, 1).await });
    gate.reached().await;
    first.kill();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let second = world.open("second").await;
    second.take(0, 1).await.unwrap();
    assert_eq!(regressions(&second), 0, "the store forgot nothing");
}

#[tokio::test(start_paused = true)]
async fn a_loss_that_was_named_is_no_regression() {
    let world = World::new(2);
    let first = world.open("first").await;
    first.take_to(0, 50).await;
    first.stop().await;
    world.recover(Loss::Bump(1000)).await;
    let second = world.open("second").await;
    assert!(second.take(0, 1).await.unwrap()[0] > 1050);
    assert_eq!(regressions(&second), 0, "the store forgot nothing");
}

#[tokio::test(start_paused = true)]
async fn a_counter_that_went_back_is_noticed_though_a_loss_was_named() {
    for stays in [true, false] {
        let world = World::new(2);
        let first = world.open("first").await;
        first.take_to(0, 10).await;
        let copy = world.stores[0].snapshot();
        world.stores[0].restart();
        first.take_to(0, world.row(0).ceiling + 20).await;
        if !stays {
            first.stop().await;
        }
        world.stores[0].restore(copy);
        world.recover(Loss::Bump(1000)).await;
        let then = if stays { first } else { world.open("second").await };
        then.heartbeat().await;
        then.take(0, 1).await.unwrap();
        assert!(regressions(&then) >= 1, "a process that went on: {stays}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_far_ahead_that_the_ledger_followed_is_judged_like_any_other() {
    let world = World::new(2);
    let small = Setup { raw_max: 1000, ..Setup::default() };
    let (a, b) = (world.open_as("a", small).await, world.open_as("b", small).await);
    a.take_to(0, 2).await;
    // Farther than what `a` would follow by itself; the ledger's own ceiling has the last word.
    b.take_to(0, 40).await;
    let (early, gate) = in_flight(&a).await;
    assert!(world.stores[0].set_value(&key(), 40));
    assert_eq!(a.take(0, 3).await.unwrap(), [41, 42, 43]);
    gate.open();
    assert!(early.await.unwrap()[0] > 43);
    assert_eq!(regressions(&a), 1);
}
