//! Marks of a layout before the ledger's, or after it.

use sequent_core::{
    Era, ErrorKind, Layout, MarkPlace as _, Rules,
    ledger::{LayoutBook as _, Loss},
};
use sequent_guard::{Resize, Trouble};

use crate::{
    harness::{Setup, World, key},
    resize::Growth,
};

/// A resize from a host without the servers' data directory, of stores and a ledger on servers.
fn distant(growth: &Growth) -> Resize {
    Resize { embedded: false, ..growth.resize() }
}

/// A ring of one slot whose ledger and store are put back together, far below the mark at home; then it is resized from
/// another host, whose data directory knows of nothing.
async fn resized_elsewhere_after_it_went_back() -> Growth {
    let growth = Growth::of(Rules::ALL);
    let (ledger, store) = (&growth.before.ledger, &growth.before.stores[0]);
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 20).await;
    old.shows_up().await;
    let copies = (ledger.snapshot(), store.snapshot());
    for _ in 0..20 {
        growth.take_often(&old, 0, 50).await;
        old.shows_up().await;
    }
    old.stop().await;
    ledger.restore(copies.0);
    store.restore(copies.1);
    distant(&growth).run(&|_| {}).await.unwrap();
    growth
}

/// The version goes up with each call, above what the mark says: only where the layout before ended tells.
async fn lift(growth: &Growth) {
    let ledger = &growth.before.ledger;
    while ledger.snapshot().version() <= growth.before.home.held() {
        let page = ledger.page().await.unwrap().unwrap();
        ledger.turn(&page, &page).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_went_back_before_a_resize_is_noticed_after_it_by_the_mark_that_nobody_read() {
    let growth = resized_elsewhere_after_it_went_back().await;
    lift(&growth).await;
    let new = growth.after.open("new").await;
    let trouble = new.keeper.trouble();
    assert!(matches!(trouble, Some(Trouble::BehindAtEnd { epoch: 1, .. })), "{trouble:?}");
    for slot in [0, 1] {
        assert_eq!(growth.take(&new, slot).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
    }
    new.stop().await;
    // Nor is it resized once more from there.
    let resize = Resize {
        home: Some(growth.after.home.clone()),
        next: Layout::new(2, 0).unwrap(),
        ..distant(&growth)
    };
    let error = resize.plan().await.unwrap_err();
    assert!(error.to_string().contains("under that layout: it had gone back"), "{error}");

    growth.after.recover(Loss::Bump(2000)).await;
    let later = growth.after.open("later").await;
    assert_eq!(later.keeper.trouble(), None, "the loss is named");
    for slot in [0, 1] {
        assert_eq!(growth.take_often(&later, slot, 50).await, 50);
    }
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

/// What a cut off resize leaves without a note, the next notes; and marks of servers that were honest accuse nobody.
#[tokio::test(start_paused = true)]
async fn a_mark_of_the_layout_before_accuses_no_ledger_that_had_not_gone_back() {
    let growth = Growth::of(Rules::ALL);
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 60).await;
    old.shows_up().await;
    let ledger = &growth.before.ledger;
    let page = ledger.page().await.unwrap().unwrap();
    let planned = page.planned(Layout::new(1, 0).unwrap());
    ledger.turn(&page, &planned).await.unwrap();
    growth.take_often(&old, 0, 60).await;
    old.shows_up().await;
    ledger.turn(&planned, &planned.fenced().unwrap()).await.unwrap();
    growth.take_often(&old, 0, 60).await;
    old.stop().await;
    distant(&growth).run(&|_| {}).await.unwrap();
    lift(&growth).await;
    assert_eq!(growth.before.home.bear(0, None).await.unwrap().era.map(|era| era.epoch), Some(1));
    let new = growth.after.open("new").await;
    assert_eq!(new.keeper.trouble(), None);
    for slot in [0, 1] {
        assert_eq!(growth.take_often(&new, slot, 60).await, 60);
    }
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

/// The ledger comes back from before the resize, and the volatile stores come back empty: the mark at home alone knows.
#[tokio::test(start_paused = true)]
async fn a_ledger_from_before_a_resize_is_told_by_the_layout_of_the_mark_at_home() {
    let growth = Growth::of(Rules::ALL);
    let ledger = &growth.before.ledger;
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 20).await;
    old.stop().await;
    let copy = ledger.snapshot();
    distant(&growth).run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    growth.take_often(&new, 1, 60).await;
    new.shows_up().await;
    ledger.restore(copy);
    growth.after.stores.iter().for_each(sequent_backend::memory::MemoryStore::empty);
    lift(&growth).await;
    let early = growth.before.try_open("early", Setup::default()).await.unwrap();
    let Some(trouble) = early.keeper.trouble() else { panic!("it is trusted") };
    let layout = |n| Layout::new(n, 0).unwrap();
    let mark = Era { epoch: 2, layout: layout(1) };
    assert_eq!(trouble, Trouble::Outrun { epoch: 1, layout: layout(0), mark });
    let said = trouble.error().to_string();
    for words in
        ["the ledger is a copy from before", "sequent recover --bump N", "shard_bits = 1, memory_bits = 0"]
    {
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(growth.take(&early, 0).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
    let resize = Resize { home: Some(growth.after.home.clone()), ..distant(&growth) };
    let error = resize.run(&|_| {}).await.unwrap_err().to_string();
    assert!(error.contains("the ledger is a copy from before"), "{error}");
    // A server of that layout that runs says the same, and not that it should be restarted with the older one.
    new.shows_up().await;
    let said = new.keeper.trouble().map(|trouble| trouble.error().to_string()).unwrap_or_default();
    assert!(said.contains("sequent recover --bump N") && !said.contains("restart it"), "{said}");
    [early, new].iter().for_each(|server| server.kill());
    crate::relaid::catch_up_by(&growth, ledger, 1000).await.unwrap();
    crate::relaid::goes_on(&growth).await;
}

#[tokio::test(start_paused = true)]
async fn every_mark_at_home_bears_the_layout_that_it_was_left_under() {
    let world = World::new(1);
    let server = world.open("server").await;
    server.take(0, 1).await.unwrap();
    let era = world.home.bear(0, None).await.unwrap().era;
    assert_eq!(era, Some(Era { epoch: 1, layout: Layout::new(0, 0).unwrap() }), "{}", key());
    let growth = Growth::of(Rules::ALL);
    growth.before.open("old").await.take(0, 1).await.unwrap();
    let resize = Resize { home: Some(growth.after.home.clone()), ..distant(&growth) };
    resize.run(&|_| {}).await.unwrap();
    let era = growth.after.home.bear(0, None).await.unwrap().era;
    assert_eq!(era, Some(Era { epoch: 2, layout: Layout::new(1, 0).unwrap() }));
}
