//! Rules of order: a counter set back under its own epoch and instance.

use std::sync::Arc;

use super::try_takes;
use crate::harness::{When, World, key};

pub(super) async fn set_back_in_use(world: &World) {
    let a = world.open("a").await;
    a.take_to(0, 50).await;
    assert!(world.stores[0].set_value(&key(), 10));
    try_takes(&a, 5).await;
}

pub(super) async fn set_back_across_a_restart(world: &World) {
    let a = world.open("a").await;
    a.take_to(0, 50).await;
    a.stop().await;
    assert!(world.stores[0].set_value(&key(), 10));
    try_takes(&world.open("b").await, 5).await;
}

pub(super) async fn set_back_between_two_takes(world: &World) {
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    let gate = a.wires.stores[0].hold("take", When::After);
    let taker = Arc::clone(&a);
    let early = tokio::spawn(async move { drop(taker.take(0, 3).await) });
    gate.reached().await;
    assert!(world.stores[0].set_value(&key(), 6));
    a.take(0, 3).await.unwrap();
    gate.open();
    early.await.unwrap();
}
