//! A shard set back in place, and who took the higher ids is gone, or looks elsewhere: each server has heard how far its
//! counters were, and gives nothing again.

use std::{sync::Arc, time::Duration};

use sequent_core::{Event, Key};

use crate::harness::{Server, When, World, key};

/// Two servers over two slots; `idle` took 20 ids and rests.
async fn at_rest() -> (World, Arc<Server>, Arc<Server>) {
    let world = World::new(2);
    let idle = world.open("idle").await;
    idle.take_to(0, 20).await;
    idle.heartbeat().await;
    let busy = world.open("busy").await;
    (world, idle, busy)
}

fn regressions(server: &Server) -> usize {
    server.count(|event| matches!(event, Event::Regressed { slot: 0, .. }))
}

fn other() -> Key {
    Key::from_stored("other")
}

#[tokio::test(start_paused = true)]
async fn the_one_who_took_more_has_ended_and_the_one_at_rest_notices() {
    for ends_well in [true, false] {
        let (world, idle, busy) = at_rest().await;
        let copy = world.stores[0].snapshot();
        busy.take_to(0, 60).await;
        if ends_well {
            busy.stop().await;
        } else {
            busy.heartbeat().await;
            busy.kill();
        }
        idle.heartbeat().await;
        world.stores[0].restore_in_place(copy);
        idle.heartbeat().await;
        assert!(regressions(&idle) > 0, "noticed without a take");
        assert!(idle.take(0, 30).await.unwrap()[0] > 60);
    }
}

#[tokio::test(start_paused = true)]
async fn one_key_is_looked_at_and_the_others_of_the_shard_repeat_nothing_either() {
    let (world, idle, busy) = at_rest().await;
    busy.take_of(&other(), 0, 1).await.unwrap();
    let copy = world.stores[0].snapshot();
    busy.take_to(0, 60).await;
    for n in 0..8 {
        busy.take_of(&Key::from_stored(&format!("key-{n}")), 0, 5).await.unwrap();
    }
    busy.heartbeat().await;
    world.stores[0].restore_in_place(copy);
    busy.heartbeat().await;
    assert!(regressions(&busy) > 0);
    assert!(idle.take(0, 30).await.unwrap()[0] > 60);
    assert!(busy.take_of(&other(), 0, 1).await.unwrap()[0] >= 2);
}

#[tokio::test(start_paused = true)]
async fn the_key_that_was_taken_from_last_is_dropped_and_the_next_is_looked_at() {
    let (world, idle, busy) = at_rest().await;
    // It would be faster.
    idle.kill();
    let copy = world.stores[0].snapshot();
    busy.take_to(0, 60).await;
    busy.take_of(&other(), 0, 5).await.unwrap();
    busy.drop_key(&other());
    busy.heartbeat().await;
    busy.heartbeat().await;
    world.stores[0].restore_in_place(copy);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(regressions(&busy) > 0);
    assert!(busy.take(0, 30).await.unwrap()[0] > 60);
}

#[tokio::test(start_paused = true)]
async fn a_take_that_comes_back_late_hides_no_other_key() {
    let (world, idle, busy) = at_rest().await;
    idle.kill();
    busy.take_of(&other(), 0, 5).await.unwrap();
    let gate = busy.wires.stores[0].hold("take", When::After);
    let taker = Arc::clone(&busy);
    let late = tokio::spawn(async move { taker.take_of(&other(), 0, 1).await });
    gate.reached().await;
    let copy = world.stores[0].snapshot();
    busy.take_to(0, 60).await;
    gate.open();
    late.await.unwrap().unwrap();
    busy.heartbeat().await;
    world.stores[0].restore_in_place(copy);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(regressions(&busy) > 0);
    assert!(busy.take(0, 30).await.unwrap()[0] > 60);
}

#[tokio::test(start_paused = true)]
async fn what_was_noticed_while_the_ledger_was_busy_is_mended_at_the_next_look() {
    let (world, idle, busy) = at_rest().await;
    let copy = world.stores[0].snapshot();
    busy.take_to(0, 60).await;
    busy.heartbeat().await;
    let epoch = world.row(0).epoch;
    busy.wires.ledger.busy_for("read", 1);
    idle.wires.stores[0].cut();
    world.stores[0].restore_in_place(copy);
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(regressions(&busy) > 0);
    assert_ne!(world.row(0).epoch, epoch, "the next epoch has begun");
    idle.wires.stores[0].mend();
    assert!(idle.take(0, 30).await.unwrap()[0] > 60);
}

#[tokio::test(start_paused = true)]
async fn a_last_report_that_finds_the_ledger_busy_is_made_again() {
    let (world, idle, busy) = at_rest().await;
    idle.kill();
    let copy = world.stores[0].snapshot();
    busy.take_to(0, 60).await;
    busy.wires.ledger.busy_for("heartbeat", 2);
    busy.stop().await;
    assert_eq!((world.row(0).seen, world.row(0).ceiling >= 60), (60, true));
    world.stores[0].restore_in_place(copy);
    let next = world.open("next").await;
    assert!(next.take(0, 30).await.unwrap()[0] > 60);
    assert_eq!(busy.count(|event| matches!(event, Event::Unreported { .. })), 0);
}

#[tokio::test(start_paused = true)]
async fn a_last_report_that_nobody_takes_is_told() {
    let (_world, _idle, busy) = at_rest().await;
    busy.take_to(0, 60).await;
    busy.wires.ledger.cut();
    busy.stop().await;
    assert_eq!(busy.count(|event| matches!(event, Event::Unreported { counters: 1 })), 1);
}

#[tokio::test(start_paused = true)]
async fn rows_read_when_a_key_came_alive_are_brought_up_to_date() {
    let (world, idle, busy) = at_rest().await;
    idle.kill();
    let copy = world.stores[0].snapshot();
    let late = world.open("late").await;
    drop(late.source(&key(), 0).await.unwrap());
    busy.take_to(0, 60).await;
    busy.stop().await;
    world.stores[0].restore_in_place(copy);
    tokio::time::sleep(Duration::from_millis(4500)).await;
    assert!(late.take(0, 30).await.unwrap()[0] > 60);
}

#[tokio::test(start_paused = true)]
async fn with_the_ledger_away_whoever_notices_takes_the_counter_out_of_use() {
    let (world, idle, busy) = at_rest().await;
    busy.take(0, 1).await.unwrap();
    let copy = world.stores[0].snapshot();
    let ceiling = world.row(0).ceiling;
    busy.wires.ledger.cut();
    idle.wires.ledger.cut();
    busy.take_to(0, ceiling - 5).await;
    world.stores[0].restore_in_place(copy);
    idle.heartbeat().await;
    assert!(regressions(&busy) > 0);
    assert!(idle.take(0, 10).await.is_err(), "it can't know, and the cell is closed");
    busy.wires.ledger.mend();
    idle.wires.ledger.mend();
    idle.heartbeat().await;
    assert!(idle.take(0, 30).await.unwrap()[0] > ceiling - 5);
}
