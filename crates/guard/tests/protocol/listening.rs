//! What is heard: of a row while it is being read, which is told once, and must not be lost; and operators' words.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Clock,
    ledger::{SlotCommand, SlotCommands, SlotVerb},
};

use crate::harness::{When, World, key};

/// A row is read, and its answer comes late: after another server has reported and ended, this one has listened, and the
/// shard was set back in place. `rested`: the key has been alive for long, so that the counter reads its own row.
async fn a_row_read_before_a_report_and_answered_after_it(rested: bool) {
    let world = World::new(2);
    let (taker, reader) = (world.open("taker").await, world.open("reader").await);
    taker.take_to(0, 50).await;
    taker.heartbeat().await;
    if rested {
        reader.source(&key(), 0).await.unwrap();
        tokio::time::sleep(Duration::from_secs(6)).await;
    }
    let copy = world.stores[0].snapshot();
    // Shortly before both send a heartbeat.
    tokio::time::sleep(Duration::from_millis(1800)).await;
    let gate = reader.wires.ledger.hold("read", When::After);
    let late = Arc::clone(&reader);
    let first = tokio::spawn(async move { late.take(0, 1).await });
    gate.reached().await;
    taker.take_to(0, 90).await;
    taker.stop().await;
    let heard = reader.wires.ledger.calls("moved");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(reader.wires.ledger.calls("moved") > heard, "the reader has listened");
    world.stores[0].restore_in_place(copy);
    gate.open();
    first.await.unwrap().unwrap();
    reader.take_to(0, 200).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_told_while_a_key_comes_alive_counts() {
    a_row_read_before_a_report_and_answered_after_it(false).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_told_while_a_counter_reads_its_row_counts() {
    a_row_read_before_a_report_and_answered_after_it(true).await;
}

#[tokio::test(start_paused = true)]
async fn a_word_is_heard_though_the_store_that_bears_the_mark_hangs() {
    let world = World::new(2);
    let waiting = world.open("server").await;
    waiting.take_to(0, 5).await;
    waiting.heartbeat().await;
    let (why, until_ms) = ("it hangs".to_owned(), None);
    let drain =
        SlotCommand { slot: 1, verb: SlotVerb::Drain, who: "ann".to_owned(), why, at_ms: 0, until_ms };
    let (said, mut heard) = (world.ledger.say(&drain).await.unwrap(), waiting.guard.words());
    waiting.wires.stores[1].hang();
    // What it reports must be marked, on the other store.
    waiting.take(0, 1).await.unwrap();
    let before = waiting.wires.ledger.calls("heartbeat");
    while waiting.wires.ledger.calls("heartbeat") == before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let asked = world.clock.now();
    heard.changed().await.unwrap();
    assert_eq!(*heard.borrow(), [said]);
    assert!(world.clock.now() - asked < Duration::from_millis(50), "{:?}", world.clock.now() - asked);
}
