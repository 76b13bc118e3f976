//! Rules of a ledger that is away.

use std::{sync::Arc, time::Duration};

use sequent_core::{BoxFuture, DurabilityClass, Rules};

use super::try_takes;
use crate::harness::{Kind, Server, When, World, key};

/// A server that has given all up to its ceiling.
async fn at_its_ceiling(world: &World) -> Arc<Server> {
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    a.take_to(0, world.row(0).ceiling).await;
    a
}

pub(super) fn a_volatile_store_goes_on(rules: Rules) -> BoxFuture<'static, Vec<String>> {
    Box::pin(async move {
        let world = World::of(Kind { rules, class: DurabilityClass::Volatile, ..Kind::default() }).tolerant();
        let a = at_its_ceiling(&world).await;
        a.wires.ledger.cut();
        try_takes(&a, 30).await;
        a.kill();
        world.stores[0].empty();
        try_takes(&world.open("b").await, 5).await;
        world.numbers.repeats()
    })
}

pub(super) async fn a_permit_is_lost_in_between(world: &World) {
    let a = at_its_ceiling(world).await;
    let copy = world.stores[0].snapshot();
    a.wires.ledger.cut();
    a.shows_up().await;
    let gates = [(); 2].map(|()| a.wires.stores[0].hold("take", When::After));
    let take = || {
        let taker = Arc::clone(&a);
        tokio::spawn(async move { drop(taker.take(0, 1).await) })
    };
    let late = take();
    gates[0].reached().await;
    world.stores[0].restore(copy);
    world.open("b").await.take(0, 3).await.unwrap();
    let reborn = take();
    gates[1].reached().await;
    gates.iter().for_each(crate::harness::Gate::open);
    late.await.unwrap();
    reborn.await.unwrap();
}

pub(super) async fn a_block_from_before_the_loss(world: &World) {
    let a = at_its_ceiling(world).await;
    let gate = a.wires.stores[0].hold("take", When::After);
    let taker = Arc::clone(&a);
    let early = tokio::spawn(async move { drop(taker.take(0, 1).await) });
    gate.reached().await;
    // It must not find out by looking back.
    let _blind = a.wires.stores[0].hold("lift", When::Before);
    assert!(world.stores[0].delete(&key()));
    world.open("b").await.take(0, 3).await.unwrap();
    a.wires.ledger.cut();
    gate.open();
    early.await.unwrap();
}

/// A server whose open comes after another one's, which closed the cell later.
pub(super) async fn a_life_is_opened_over_one_in_use(world: &World) {
    world.open("before").await.take_to(0, 5).await;
    world.stores[0].restart();
    let (a, b) = (world.open("a").await, world.open("b").await);
    let gate = a.wires.ledger.hold("open", When::Before);
    let _never = a.wires.stores[0].hold("install", When::Before);
    let opener = Arc::clone(&a);
    tokio::spawn(async move { drop(opener.take(0, 1).await) });
    gate.reached().await;
    b.take(0, 1).await.unwrap();
    gate.open();
    tokio::time::sleep(Duration::from_millis(1)).await;
    a.kill();
    b.wires.ledger.cut();
    try_takes(&b, 200).await;
    b.wires.ledger.mend();
    b.shows_up().await;
    b.kill();
    assert!(world.stores[0].delete(&key()));
    try_takes(&world.open("c").await, 50).await;
}

pub(super) async fn nobody_tells_the_ledger(world: &World) {
    let a = at_its_ceiling(world).await;
    a.wires.ledger.cut();
    try_takes(&a, 30).await;
    world.stores[0].restart();
    try_takes(&a, 1).await;
    a.wires.ledger.mend();
    a.shows_up().await;
    a.kill();
    world.stores[0].empty();
    try_takes(&world.open("b").await, 5).await;
}
