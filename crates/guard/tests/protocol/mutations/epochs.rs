//! Rules of epochs: who may count in a cell, and when an epoch ends.

use std::sync::Arc;

use sequent_core::{BoxFuture, Cell, Epoch, Rules, Store};

use super::try_takes;
use crate::harness::{Gate, Kind, Server, When, World, key};

pub(super) async fn a_permit_from_before_the_restore(world: &World) {
    let (a, b) = (world.open("a").await, world.open("b").await);
    a.take_to(0, 5).await;
    b.take(0, 1).await.unwrap();
    let copy = world.stores[0].snapshot();
    a.take_to(0, 50).await;
    world.stores[0].restore(copy);
    try_takes(&b, 5).await;
}

pub(super) async fn a_row_from_before_the_restore(world: &World) {
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    let copy = world.stores[0].snapshot();
    a.take_to(0, 50).await;
    a.kill();
    world.stores[0].restore(copy);
    try_takes(&world.open("b").await, 5).await;
}

/// Five ids have left, and the cell is gone; the ledger has not heard how many.
async fn deleted(world: &World) {
    world.open("a").await.take(0, 5).await.unwrap();
    assert!(world.stores[0].delete(&key()));
}

pub(super) async fn a_take_finds_no_cell(world: &World) {
    deleted(world).await;
    try_takes(&world.open("b").await, 5).await;
}

pub(super) async fn a_cell_closed_for_another_epoch(world: &World) {
    deleted(world).await;
    let (key, under) = (key(), world.stores[0].instance());
    world.stores[0].close(Cell { key: &key, under: &under }, Epoch::from_stored(9)).await.unwrap();
    try_takes(&world.open("b").await, 5).await;
}

pub(super) async fn a_lift_finds_no_cell(world: &World) {
    deleted(world).await;
    let b = world.open("b").await;
    b.source(&key(), 0).await.unwrap().lift(2).await.unwrap();
    try_takes(&b, 5).await;
}

pub(super) async fn an_install_comes_late(world: &World) {
    deleted(world).await;
    let (key, under, row) = (key(), world.stores[0].instance(), world.row(0));
    // Sent before the deletion, and refused or not: what counts is what it does.
    drop(world.stores[0].install(Cell { key: &key, under: &under }, row.epoch, row.base).await);
    try_takes(&world.open("b").await, 5).await;
}

/// A server that has given all up to its ceiling and holds the next id, which the ledger has not been asked for yet;
/// and a copy of the store from before that id.
async fn asking(world: &World) -> (Arc<Server>, Gate, sequent_backend::memory::Cells) {
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    a.take_to(0, world.row(0).ceiling).await;
    let copy = world.stores[0].snapshot();
    let gate = a.wires.ledger.hold("raise", When::Before);
    let taker = Arc::clone(&a);
    tokio::spawn(async move { drop(taker.take(0, 1).await) });
    gate.reached().await;
    (a, gate, copy)
}

pub(super) async fn a_raise_after_the_epoch_ended(world: &World) {
    let (a, gate, copy) = asking(world).await;
    world.stores[0].restore(copy);
    world.open("b").await.take(0, 3).await.unwrap();
    gate.open();
    a.heartbeat().await;
}

/// The raise comes after so many turns of the scheduler; one of them is in the middle of the open.
async fn raise_after(world: &World, turns: usize) {
    let (a, gate, copy) = asking(world).await;
    world.stores[0].restore(copy);
    let b = world.open("b").await;
    tokio::spawn(async move {
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        gate.open();
    });
    try_takes(&b, 3).await;
    a.heartbeat().await;
}

pub(super) fn a_raise_in_the_middle_of_an_open(rules: Rules) -> BoxFuture<'static, Vec<String>> {
    Box::pin(async move {
        let mut repeats = Vec::new();
        for turns in 0..20 {
            let world = World::of(Kind { rules, ..Kind::default() }).tolerant();
            raise_after(&world, turns).await;
            repeats.extend(world.numbers.repeats());
        }
        repeats
    })
}

pub(super) async fn a_block_outlives_its_epoch(world: &World) {
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    a.take_to(0, world.row(0).ceiling).await;
    let copy = world.stores[0].snapshot();
    let gate = a.wires.stores[0].hold("take", When::After);
    let taker = Arc::clone(&a);
    let block = tokio::spawn(async move { drop(taker.take(0, 1).await) });
    gate.reached().await;
    world.stores[0].restore(copy);
    world.open("b").await.take(0, 3).await.unwrap();
    a.take(0, 1).await.unwrap();
    gate.open();
    block.await.unwrap();
}

pub(super) async fn an_id_above_the_ceiling(world: &World) {
    let a = world.open("a").await;
    a.take_to(0, 5).await;
    a.take_to(0, world.row(0).ceiling).await;
    let copy = world.stores[0].snapshot();
    a.take(0, 3).await.unwrap();
    a.kill();
    world.stores[0].restore(copy);
    try_takes(&world.open("b").await, 3).await;
}
