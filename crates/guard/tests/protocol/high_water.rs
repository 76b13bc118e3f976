//! How far a key may have been taken: what a caller's highest number is held against.

use sequent_core::ledger::Loss;

use crate::harness::{World, key};

fn highest(reach: &[(u16, u64)]) -> u64 {
    reach.iter().map(|(_, raw)| *raw).max().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn what_a_ledger_that_went_back_knows_nothing_of_is_found_in_the_store() {
    let world = World::new(2);
    let gone = world.open("gone").await;
    gone.take_to(0, 5).await;
    let copy = world.ledger.snapshot();
    let given = gone.take_to(0, world.row(0).ceiling + 50).await;
    gone.kill();
    world.ledger.restore(copy);
    world.recover(Loss::Bump(0)).await;
    let here = world.open("here").await;
    here.source(&key(), 0).await.unwrap();
    assert!(highest(&here.guard.held(&key())) < given);
    assert!(highest(&here.guard.ceilings(&key()).await.unwrap()) < given);
    assert!(highest(&here.guard.values(&key()).await) >= given, "the store does");
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_is_away_says_nothing_of_ceilings() {
    let world = World::new(1);
    let server = world.open("server").await;
    server.take(0, 5).await.unwrap();
    let permitted = highest(&server.guard.ceilings(&key()).await.unwrap());
    assert_eq!(permitted, world.row(0).ceiling);
    assert_eq!(highest(&server.guard.held(&key())), permitted);
    server.wires.ledger.cut();
    assert!(server.guard.ceilings(&key()).await.is_err());
    assert_eq!(highest(&server.guard.held(&key())), permitted, "this is known all the same");
}
