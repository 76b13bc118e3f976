//! How far a key may have been taken: what a caller's highest number is held against.

use crate::harness::{World, counter, key};

fn highest(reach: &[(u16, u64)]) -> u64 {
    reach.iter().map(|(_, raw)| *raw).max().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn what_left_without_the_ledger_by_a_process_that_was_killed_is_found_in_the_store() {
    let world = World::new(2);
    let (gone, here) = (world.open("gone").await, world.open("here").await);
    gone.take(0, 5).await.unwrap();
    gone.shows_up().await;
    here.take(0, 1).await.unwrap();
    gone.wires.ledger.cut();
    let given = gone.take_to(0, world.row(0).ceiling + 50).await;
    assert!(gone.unwitnessed() > 0);
    gone.kill();
    here.shows_up().await;
    assert!(world.row(0).ceiling < given, "the ledger knows nothing of it");
    assert!(highest(&here.keeper.held(&key())) < given);
    assert!(highest(&here.keeper.ceilings(&key()).await.unwrap()) < given);
    assert!(highest(&here.keeper.values(&key()).await) >= given, "the store does");
    assert_eq!(world.row(0).ceiling, world.row_of(&counter(0)).unwrap().ceiling);
    let cell = world.cell(0);
    here.keeper.values(&key()).await;
    assert_eq!(format!("{:?}", world.cell(0)), format!("{cell:?}"), "nothing is moved");
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_is_away_says_nothing_of_ceilings() {
    let world = World::new(1);
    let server = world.open("server").await;
    server.take(0, 5).await.unwrap();
    let permitted = highest(&server.keeper.ceilings(&key()).await.unwrap());
    assert_eq!(permitted, world.row(0).ceiling);
    assert_eq!(highest(&server.keeper.held(&key())), permitted);
    server.wires.ledger.cut();
    assert!(server.keeper.ceilings(&key()).await.is_err());
    assert_eq!(highest(&server.keeper.held(&key())), permitted, "this is known all the same");
}
