//! Rules of a ledger that is away.

use std::{sync::Arc, time::Duration};

use super::try_takes;
use crate::harness::{When, World, key};

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
