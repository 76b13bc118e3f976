//! A server of a layout that is over, at a store that came back empty: whose it becomes.

use sequent_core::{ErrorKind, Rules, Store};

use crate::{
    harness::{Kind, World},
    resize::Growth,
};

#[tokio::test(start_paused = true)]
async fn who_slept_through_a_resize_makes_no_store_of_the_layout_before() {
    for is_away in [false, true] {
        let growth = Growth::of(Rules::ALL);
        let old = growth.before.open("old").await;
        assert_eq!(growth.take_often(&old, 0, 50).await, 50);
        growth.resize().run(&|_| {}).await.unwrap();
        let new = growth.after.open("new").await;
        assert_eq!(growth.take_often(&new, 0, 5).await, 5);
        if is_away {
            old.wires.ledger.cut();
        }
        let store = &growth.after.stores[0];
        store.empty();
        // It has not heard of the resize, and comes first.
        let refusal = growth.take(&old, 0).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::NoWitness, "{refusal}");
        assert!(
            refusal.to_string().contains("an empty store is stamped for generation 1 only if"),
            "{refusal}"
        );
        assert_eq!(store.inspect().await.unwrap().stamp, None);
        assert_eq!(growth.take_often(&new, 0, 20).await, 20, "no person must act");
        assert_eq!(store.inspect().await.unwrap().stamp.unwrap().generation, 2);
        assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn who_slept_while_another_ledger_came_makes_no_store_of_the_one_before() {
    let world = World::new(1);
    let old = world.open("old").await;
    old.take_to(0, 20).await;
    // The same layout and generation, as after a recovery onto an empty ledger.
    let another = World::of(Kind { slots: 1, seed: 2, ..Kind::default() });
    another.open("another").await.take(0, 1).await.unwrap();
    world.ledger.restore(another.ledger.snapshot());
    world.stores[0].empty();
    // It has not heard of it, and comes first.
    let refusal = old.take(0, 1).await.unwrap_err();
    assert_eq!(world.stores[0].inspect().await.unwrap().stamp, None);
    assert_eq!(refusal.kind(), ErrorKind::NoWitness, "{refusal}");
    assert!(refusal.to_string().contains("the ledger is another one"), "{refusal}");
}
