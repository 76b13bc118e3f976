//! Marks of a layout before the ledger's, or after it, and losses that are named amid a resize.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Era, ErrorKind, Event, Key, Layout, MarkPlace as _, Rules,
    ledger::{LayoutBook as _, Loss},
};
use sequent_guard::{LedgerFault, Resize};

use crate::{
    harness::{Setup, World, key},
    resize::{Growth, many_keys, slow},
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
    old.heartbeat().await;
    let copies = (ledger.snapshot(), store.snapshot());
    for _ in 0..20 {
        growth.take_often(&old, 0, 50).await;
        old.heartbeat().await;
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
    let trouble = new.guard.trouble();
    let Some(LedgerFault::BehindAtEnd { generation: 1, version, mark }) = trouble else {
        panic!("{trouble:?}")
    };
    let told = format!(
        "the layout of generation 1 ended at its version {version}, and a mark of that layout says {mark}"
    );
    let is_told = |event: &Event| matches!(event, Event::LedgerBehind { detail } if *detail == told);
    assert!(version < mark && new.count(is_told) == 1, "{:?}", new.events());
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

    // Nor does anybody's word that nothing was lost hide it.
    let error = growth.after.try_recover(Loss::Moved).await.unwrap_err();
    assert!(error.to_string().contains("under that layout: it had gone back"), "{error}");
    growth.after.recover(Loss::Bump(2000)).await;
    let later = growth.after.open("later").await;
    assert_eq!(later.guard.trouble(), None, "the loss is named");
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
    old.heartbeat().await;
    let ledger = &growth.before.ledger;
    let page = ledger.page().await.unwrap().unwrap();
    let planned = page.planned(Layout::new(1, 0).unwrap());
    ledger.turn(&page, &planned).await.unwrap();
    growth.take_often(&old, 0, 60).await;
    old.heartbeat().await;
    ledger.turn(&planned, &planned.fenced().unwrap()).await.unwrap();
    growth.take_often(&old, 0, 60).await;
    old.stop().await;
    distant(&growth).run(&|_| {}).await.unwrap();
    lift(&growth).await;
    assert_eq!(growth.before.home.bear(0, None).await.unwrap().era.map(|era| era.generation), Some(1));
    let new = growth.after.open("new").await;
    assert_eq!(new.guard.trouble(), None);
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
    new.heartbeat().await;
    ledger.restore(copy);
    growth.after.stores.iter().for_each(sequent_backend::memory::MemoryStore::empty);
    lift(&growth).await;
    let early = growth.before.try_open("early", Setup::default()).await.unwrap();
    let Some(trouble) = early.guard.trouble() else { panic!("it is trusted") };
    let layout = |n| Layout::new(n, 0).unwrap();
    let mark = Era { generation: 2, layout: layout(1) };
    assert_eq!(trouble, LedgerFault::Outrun { generation: 1, layout: layout(0), mark });
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
    new.heartbeat().await;
    let said = new.guard.trouble().map(|trouble| trouble.error().to_string()).unwrap_or_default();
    assert!(said.contains("sequent recover --bump N") && !said.contains("restart it"), "{said}");
    for server in [early, new] {
        server.kill();
    }
}

#[tokio::test(start_paused = true)]
async fn every_mark_at_home_bears_the_layout_that_it_was_left_under() {
    let world = World::new(1);
    let server = world.open("server").await;
    server.take(0, 1).await.unwrap();
    let era = world.home.bear(0, None).await.unwrap().era;
    assert_eq!(era, Some(Era { generation: 1, layout: Layout::new(0, 0).unwrap() }), "{}", key());
    let growth = Growth::of(Rules::ALL);
    growth.before.open("old").await.take(0, 1).await.unwrap();
    let resize = Resize { home: Some(growth.after.home.clone()), ..distant(&growth) };
    resize.run(&|_| {}).await.unwrap();
    let era = growth.after.home.bear(0, None).await.unwrap().era;
    assert_eq!(era, Some(Era { generation: 2, layout: Layout::new(1, 0).unwrap() }));
}

/// Somebody names a loss while a slow ledger takes the rows of the next layout: what was read before does not have it.
async fn named_amid_a_resize(keys: usize, after: Duration) {
    let growth = Growth::of(Rules::ALL);
    many_keys(&growth, keys).await;
    let (_wires, ledger) = slow(&growth, Duration::from_millis(10));
    let resize = growth.resize_through(Arc::clone(&ledger));
    let (done, ()) = tokio::join!(resize.run(&|_| {}), async {
        while !growth.before.ledger.page().await.unwrap().unwrap().step.is_fenced() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(after).await;
        growth.before.recover(Loss::Bump(5000)).await;
    });
    let error = done.err().map(|error| error.to_string()).unwrap_or_default();
    if error.contains("name it again") {
        for _ in 0..2 {
            let error =
                growth.resize_through(Arc::clone(&ledger)).run(&|_| {}).await.unwrap_err().to_string();
            assert!(error.contains("name it again"), "until it is: {error}");
        }
        growth.before.recover(Loss::Bump(5000)).await;
    } else {
        assert!(error.is_empty() || error.contains("a loss was named meanwhile"), "{error}");
    }
    growth.resize_through(ledger).run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    for at in 0..keys {
        let key = Key::from_stored(&format!("key-{at}"));
        for slot in [0, 1] {
            // A raw id of the ring of one is half of one of the ring of two.
            assert!(new.take_of(&key, slot, 1).await.unwrap()[0] >= 2500, "{key} without the loss");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_loss_that_is_named_while_a_resize_runs_is_not_dropped() {
    for after_ms in [0, 5, 200, 400, 900] {
        named_amid_a_resize(100, Duration::from_millis(after_ms)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn very_many_rows_are_read_a_page_at_a_time() {
    let growth = Growth::of(Rules::ALL);
    let old = growth.before.open("old").await;
    let keys: Vec<Key> = (0..5000).map(|at| Key::from_stored(&format!("key-{at}"))).collect();
    let mut takes = tokio::task::JoinSet::new();
    for key in keys {
        let old = Arc::clone(&old);
        takes.spawn(async move { old.take_of(&key, 0, 1).await.unwrap() });
    }
    assert_eq!(takes.join_all().await.len(), 5000);
    old.stop().await;
    let (wires, ledger) = slow(&growth, Duration::ZERO);
    let resize = growth.resize_through(ledger);
    assert_eq!(resize.plan().await.unwrap().keys.len(), 5000, "each once");
    assert_eq!((wires.ledger.calls("list"), wires.ledger.calls("keys_between")), (1, 4), "slot 1 has none");
}
