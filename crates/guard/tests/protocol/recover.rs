//! A recovery that can't read every mark.

use std::{sync::Arc, time::Duration};

use sequent_core::{ErrorKind, Key, Store as _, ledger::Loss};
use sequent_guard::LedgerFault;

use crate::harness::World;

/// Three shards, the third of which bears a mark that no other place has; the ledger goes back, and that shard is away.
async fn set_back_without_the_shard_that_knows() -> (World, u64) {
    without_the_shard_that_knows(true).await
}

/// The same, or without any other place that tells of it.
async fn without_the_shard_that_knows(others_tell: bool) -> (World, u64) {
    let world = World::new(3);
    let server = world.open("server").await;
    server.take_to(0, 20).await;
    server.heartbeat().await;
    let copy = world.ledger.snapshot();
    server.take_to(0, 60).await;
    let highest = world.highest(0);
    server.stop().await;
    if others_tell {
        world.ledger.restore(copy);
    }
    let far = world.ledger.snapshot().version() + 1000;
    let speaks = world.stores[2].inspect().await.unwrap().instance;
    world.stores[2].mark(&speaks, far).await.unwrap();
    world.stores[2].set_away(true);
    (world, highest)
}

#[tokio::test(start_paused = true)]
async fn a_mark_that_a_named_loss_could_not_read_stops_nothing_when_it_returns() {
    let (world, highest) = set_back_without_the_shard_that_knows().await;
    let shards: Vec<_> =
        (0..).zip(&world.stores).map(|(slot, store)| (slot, Arc::new(store.clone()) as _)).collect();
    let read = sequent_guard::read_marks(&shards, Duration::from_secs(1)).await;
    assert_eq!(read.unread.iter().map(|(slot, _)| *slot).collect::<Vec<_>>(), [2], "it is said before");
    world.recover(Loss::Bump(1000)).await;
    let server = world.open("server").await;
    assert!(server.take(0, 1).await.unwrap()[0] > highest + 900);
    world.stores[2].set_away(false);
    assert!(server.take(2, 1).await.unwrap()[0] > 900, "its mark is met");
    server.heartbeat().await;
    assert_eq!(server.guard.trouble(), None);
    world.open("another").await.take(1, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_mark_that_was_not_read_still_contradicts_whoever_says_that_nothing_was_lost() {
    let (world, _) = without_the_shard_that_knows(false).await;
    world.recover(Loss::Moved).await;
    let server = world.open("server").await;
    server.take(0, 1).await.unwrap();
    world.stores[2].set_away(false);
    assert_eq!(server.take(2, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
    assert!(
        matches!(server.guard.trouble(), Some(LedgerFault::Behind { .. })),
        "{:?}",
        server.guard.trouble()
    );
}

#[tokio::test(start_paused = true)]
async fn a_mark_that_is_read_contradicts_at_once_whoever_says_that_nothing_was_lost() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take(0, 5).await.unwrap();
    let copy = world.ledger.snapshot();
    for key in ["new", "newer"] {
        server.take_of(&Key::from_stored(key), 1, 1).await.unwrap();
    }
    server.stop().await;
    world.ledger.restore(copy);
    let page = world.ledger.snapshot();
    let error = world.try_recover(Loss::Moved).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LedgerBehind);
    assert!(error.to_string().contains("sequent recover --bump N"), "{error}");
    assert_eq!(world.ledger.snapshot().version(), page.version(), "nothing was done");
    let server = world.open("server").await;
    assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind, "still refused");
    world.recover(Loss::Bump(100)).await;
    server.heartbeat().await;
    server.take(0, 1).await.unwrap();
}
