//! What waits behind another ledger call, or rests on a call whose caller died: it must not outlive what it rested on.

use std::{sync::Arc, time::Duration};

use crate::harness::{When, World, key};

#[tokio::test(start_paused = true)]
async fn a_raise_queued_behind_a_renewal_is_not_sent_into_the_new_history() {
    let world = World::new(2).tolerant();
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    a.take_to(0, world.row(0).ceiling).await;
    let gate = a.wires.ledger.hold("heartbeat", When::Before);
    gate.reached().await;
    let taker = Arc::clone(&a);
    let queued = tokio::spawn(async move { taker.take(0, 1).await });
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    let copy = world.ledger.snapshot();
    assert!(world.stores[0].delete(&key()));
    world.open("b").await.take(0, 3).await.unwrap();
    world.ledger.restore(copy);
    gate.open();
    queued.await.unwrap().unwrap_err();
    assert!(world.numbers.repeats().is_empty(), "{:?}", world.numbers.repeats());
}

#[tokio::test(start_paused = true)]
async fn a_raise_whose_server_died_before_its_mark_is_marked_by_who_joins() {
    let world = World::new(2).tolerant();
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    a.take_to(0, world.row(0).ceiling).await;
    let copy = world.ledger.snapshot();
    let gate = a.wires.ledger.hold("raise", When::After);
    let taker = Arc::clone(&a);
    tokio::spawn(async move { drop(taker.take(0, 1).await) });
    gate.reached().await;
    a.kill();
    let b = world.open("b").await;
    for _ in 0..20 {
        b.take(0, 1).await.unwrap();
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    b.kill();
    world.ledger.restore(copy);
    assert!(world.stores[0].delete(&key()));
    let c = world.open("c").await;
    assert!(c.guard.trouble().is_some());
    c.take(0, 1).await.unwrap_err();
    assert!(world.numbers.repeats().is_empty(), "{:?}", world.numbers.repeats());
}
