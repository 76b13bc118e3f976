//! Rules of the ledger's history: what a ledger that went back, or that others write to, must not undo.

use std::{sync::Arc, time::Duration};

use sequent_core::ledger::Loss;
use sequent_guard::GuardConfig;

use super::{burn, try_takes};
use crate::harness::{Setup, When, World, key};

/// Ids far above an old ceiling have left, and the ledger is the old one again: an operator says that nothing is lost.
/// The store has everything.
async fn went_back(world: &World) {
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    let copy = world.ledger.snapshot();
    a.take_to(0, world.row(0).ceiling + 100).await;
    a.kill();
    world.ledger.restore(copy);
    world.recover(Loss::Bump(0)).await;
}

pub(super) async fn an_old_window_is_joined(world: &World) {
    went_back(world).await;
    let b = world.open("b").await;
    burn(&b).await;
    assert!(world.stores[0].delete(&key()));
    try_takes(&b, 5).await;
}

pub(super) async fn the_store_knows_more_than_the_ledger(world: &World) {
    went_back(world).await;
    let b = world.open("b").await;
    burn(&b).await;
    assert!(world.stores[0].delete(&key()));
    try_takes(&b, 5).await;
}

pub(super) async fn a_raise_from_before_the_restore(world: &World) {
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    // So that nobody waits for the opener of this epoch.
    tokio::time::sleep(Duration::from_secs(5)).await;
    a.take_to(0, world.row(0).ceiling).await;
    let gate = a.wires.ledger.hold("raise", When::Before);
    let taker = Arc::clone(&a);
    tokio::spawn(async move { drop(taker.take(0, 1).await) });
    gate.reached().await;
    let copy = world.ledger.snapshot();
    assert!(world.stores[0].delete(&key()));
    world.open("b").await.take(0, 3).await.unwrap();
    world.ledger.restore(copy);
    gate.open();
    a.heartbeat().await;
}

pub(super) async fn a_slow_server_raises_less(world: &World) {
    // It is told to go on for no time without the ledger, and asks for no more than it takes.
    let config = GuardConfig { outage: Duration::ZERO, ..GuardConfig::default() };
    let slow = world.open_as("slow", Setup { config, ..Setup::default() }).await;
    let fast = world.open("fast").await;
    fast.take_to(0, 5).await;
    slow.take(0, 1).await.unwrap();
    fast.take_to(0, 400).await;
    slow.take(0, 1).await.unwrap();
    fast.take_to(0, 2000).await;
    // Gone before they can look back, and tell.
    fast.kill();
    slow.kill();
    assert!(world.stores[0].delete(&key()));
    try_takes(&world.open("late").await, 5).await;
}

pub(super) async fn ledger_and_cell_go_back_together(world: &World) {
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    let copy = world.ledger.snapshot();
    a.take_to(0, world.row(0).ceiling + 100).await;
    a.kill();
    world.ledger.restore(copy);
    assert!(world.stores[0].delete(&key()));
    try_takes(&world.open("b").await, 5).await;
}
