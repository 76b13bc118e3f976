//! A ledger that is put back from a copy of before a resize, or amid one.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Clock, Entropy, Env, ErrorKind, Events, Key, Layout, Rules, SourceError,
    ledger::{LayoutBook, LayoutRecord, Ledger},
};
use sequent_guard::CatchUp;

use crate::{
    harness::{Kind, LedgerState, Server, Setup, Wired, Wires, World, counter, key},
    resize::{Growth, many_keys, slow},
};

/// At least what any counter gave after the copies of these stories.
const LOSS: u64 = 1000;

/// When the copy was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Copied {
    Before,
    Planned,
    Fenced,
}

/// A ring that has grown from one slot to two, and counted on; then its ledger is put back.
async fn put_back(copied: Copied, forgets: &[usize]) -> Growth {
    let growth = Growth::of(Rules::ALL);
    let ledger = &growth.before.ledger;
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 20).await;
    old.shows_up().await;
    let mut copy: Option<LedgerState> = (copied == Copied::Before).then(|| ledger.snapshot());
    growth.take_often(&old, 0, 40).await;
    old.stop().await;
    if copied != Copied::Before {
        let page = ledger.page().await.unwrap().unwrap();
        let planned = page.planned(Layout::new(1, 0).unwrap());
        ledger.turn(&page, &planned).await.unwrap();
        copy = (copied == Copied::Planned).then(|| ledger.snapshot());
        if copied == Copied::Fenced {
            ledger.turn(&planned, &planned.fenced().unwrap()).await.unwrap();
            copy = Some(ledger.snapshot());
        }
    }
    growth.resize().run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    for (slot, times) in [(0, 450), (1, 400)] {
        assert_eq!(growth.take_often(&new, slot, times).await, times);
    }
    new.stop().await;
    ledger.restore(copy.unwrap());
    for &slot in forgets {
        // The cells of both layouts; what it is called by stays.
        let key = crate::harness::key();
        growth.after.stores[slot].delete(&key);
        assert!(growth.after.stores[slot].delete(&key.in_generation(2)));
    }
    growth
}

async fn catch_up(growth: &Growth, ledger: &dyn Ledger) -> Result<(), SourceError> {
    catch_up_by(growth, ledger, LOSS).await
}

pub(crate) async fn catch_up_by(growth: &Growth, ledger: &dyn Ledger, bump: u64) -> Result<(), SourceError> {
    let world = &growth.after;
    let shards: Vec<_> =
        (0..).zip(&world.stores).map(|(slot, store)| (slot, Arc::new(store.clone()) as _)).collect();
    let entropy: Arc<dyn Entropy> = Arc::new(world.entropy.fork());
    let clock: Arc<dyn Clock> = Arc::clone(&world.clock) as _;
    let next = LayoutRecord {
        cluster: ledger.page().await?.unwrap().cluster,
        layout: Layout::new(1, 0).unwrap(),
        generation: 2,
    };
    let catch_up = CatchUp {
        ledger,
        shards: &shards,
        home: Some(&*world.home),
        next,
        bump,
        limit: Duration::from_secs(1),
        env: Env { clock, entropy, events: Events::default() },
    };
    catch_up.run().await
}

/// Servers of both layouts try what they can; whatever leaves is noted.
async fn tries(growth: &Growth) {
    for (world, slots) in [(&growth.before, 1), (&growth.after, 2)] {
        let Ok(server) = world.try_open("early", Setup::default()).await else { continue };
        for slot in 0..slots {
            growth.take_often(&server, slot, 5).await;
        }
        server.kill();
    }
}

pub(crate) async fn goes_on(growth: &Growth) {
    let new = growth.after.open("later").await;
    assert!(
        new.outside.is_empty() && new.keeper.trouble().is_none(),
        "{:?} {:?}",
        new.outside,
        new.keeper.trouble()
    );
    for slot in [0, 1] {
        assert_eq!(growth.take_often(&new, slot, 400).await, 400);
    }
    new.shows_up().await;
    assert_eq!(new.keeper.trouble(), None);
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_before_or_amid_a_resize_takes_up_the_layout_of_the_stores() {
    for copied in [Copied::Before, Copied::Planned, Copied::Fenced] {
        for forgets in [&[][..], &[0], &[1], &[0, 1]] {
            let growth = put_back(copied, forgets).await;
            tries(&growth).await;
            // What the stores have not forgotten counts, whatever the person says, and for the other slots, too.
            let bump = if forgets.contains(&0) { LOSS } else { 1 };
            catch_up_by(&growth, &growth.after.ledger, bump).await.unwrap();
            let record = growth.after.ledger.layout().await.unwrap().unwrap();
            assert_eq!((record.generation, record.layout), (2, Layout::new(1, 0).unwrap()));
            goes_on(&growth).await;
        }
    }
}

/// What a counter began after the copy, and its store forgot, only the named loss knows.
#[tokio::test(start_paused = true)]
async fn a_key_that_began_after_the_copy_begins_above_the_loss() {
    let growth = put_back(Copied::Before, &[]).await;
    catch_up(&growth, &growth.after.ledger).await.unwrap();
    let new: Arc<Server> = growth.after.open("new").await;
    for slot in [0, 1] {
        assert!(new.take_of(&Key::from_stored("fresh"), slot, 1).await.unwrap()[0] > LOSS);
    }
}

/// Whoever catches up is killed after so many calls of the ledger; whether it had to be done again.
async fn killed_after(copied: Copied, calls: usize) -> bool {
    let growth = put_back(copied, &[1]).await;
    let wires = Wires::new(0);
    // One more: the test's own reading of the page.
    wires.ledger.mend_for(calls + 1);
    let distant = Wired { wire: Arc::clone(&wires.ledger), inner: growth.after.ledger.clone() };
    let died = catch_up(&growth, &distant).await.is_err();
    tries(&growth).await;
    if died {
        catch_up(&growth, &growth.after.ledger).await.unwrap();
    }
    goes_on(&growth).await;
    died
}

#[tokio::test(start_paused = true)]
async fn a_recovery_that_was_killed_anywhere_is_finished_by_the_next() {
    for copied in [Copied::Before, Copied::Fenced] {
        let mut calls = 0;
        while killed_after(copied, calls).await {
            calls += 1;
            assert!(calls < 100);
        }
        assert!(calls >= 8, "only {calls} calls: the test is about fewer places than there are");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_the_next_layout_or_a_leap_is_refused_and_changes_nothing() {
    let growth = put_back(Copied::Before, &[]).await;
    let ledger = &growth.after.ledger;
    let before = ledger.page().await.unwrap();
    growth.after.stores[1].set_value(&crate::harness::key().in_generation(2), 1 << 62);
    let error = catch_up(&growth, ledger).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Leapt, "{error}");
    assert!(
        error.to_string().contains("slot 1 key order") && error.to_string().contains("--bump"),
        "{error}"
    );
    assert_eq!(ledger.page().await.unwrap(), before);
    let strange = World::of(Kind { slots: 1, seed: 2, ..Kind::default() });
    strange.open("stranger").await.take(0, 1).await.unwrap();
    let mut after = growth;
    after.after.stores[1] = strange.stores[0].clone();
    let error = catch_up(&after, &after.after.ledger.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert_eq!(after.after.ledger.page().await.unwrap(), before);
}

/// What the next layout begins with is above every row of the key: none that a hand wrote may be among them.
#[tokio::test(start_paused = true)]
async fn a_row_of_the_copy_that_claims_too_much_takes_no_key_with_it() {
    let growth = put_back(Copied::Before, &[]).await;
    let (ledger, counter, row) = (&growth.after.ledger, counter(0), growth.after.row(0));
    let before =
        (ledger.page().await.unwrap(), growth.after.stores[1].snapshot().cell(&key().in_generation(2)));
    for (base, seen) in [(row.base, row.seen), (row.base, 1 << 62), (1 << 62, 1 << 62), (1 << 62, row.seen)] {
        let ceiling = if base == 1 << 62 && seen == row.seen { row.ceiling } else { 1 << 62 };
        assert!(ledger.set_base(&counter, base) && ledger.set_seen(&counter, seen));
        assert!(ledger.set_ceiling(&counter, ceiling));
        let error = catch_up(&growth, ledger).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Leapt, "{error}");
        assert!(error.to_string().contains("slot 0 key order"), "{error}");
        let after =
            (ledger.page().await.unwrap(), growth.after.stores[1].snapshot().cell(&key().in_generation(2)));
        assert_eq!(after, before, "nothing was changed");
    }
    assert!(ledger.set_base(&counter, row.base) && ledger.set_seen(&counter, row.seen));
    assert!(ledger.set_ceiling(&counter, row.ceiling));
    catch_up(&growth, ledger).await.unwrap();
    goes_on(&growth).await;
}

#[tokio::test(start_paused = true)]
async fn a_ledger_of_many_keys_that_is_slow_is_brought_up_too() {
    let growth = Growth::of(Rules::ALL);
    many_keys(&growth, 300).await;
    let copy = growth.before.ledger.snapshot();
    growth.resize().run(&|_| {}).await.unwrap();
    growth.after.open("new").await.stop().await;
    growth.before.ledger.restore(copy);
    let (_, ledger) = slow(&growth, Duration::from_millis(10));
    catch_up(&growth, &*ledger).await.unwrap();
    goes_on(&growth).await;
}
