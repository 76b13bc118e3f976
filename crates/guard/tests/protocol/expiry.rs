//! Periods that are over: counters that are forgotten begin no more, whoever comes late, and wherever it was cut off.

use std::sync::Arc;

use sequent_core::{
    ErrorKind, Key, SourceError,
    ledger::{Catalog, Counter, Dense, DenseAsk, DenseTaken, Fence},
};

use crate::harness::{Server, When, World};

fn day(of_month: u8) -> Key {
    Key::from_stored(&format!("order|8:202604{of_month:02}|3:010"))
}

fn behind(key: &Key) -> Fence {
    Fence::of(key).unwrap()
}

fn counters(key: &Key) -> Vec<Counter> {
    (0..2).map(|slot| Counter { slot, key: key.clone() }).collect()
}

/// The first day is over and forgotten by one server; another, which knows of nothing, is asked for it.
#[cfg(feature = "mutation")]
pub(crate) async fn whoever_comes_late(world: &World) {
    let (a, b) = (world.open("a").await, world.open("b").await);
    a.take_of(&day(1), 0, 5).await.unwrap();
    a.guard.retire(&behind(&day(1)), counters(&day(1))).await.unwrap();
    for server in [&b, &a] {
        for _ in 0..5 {
            drop(server.take_of(&day(1), 0, 1).await);
        }
    }
}

/// Asks for one id of the first day in a task of its own, again where its epoch was lost: what it was given.
fn taking(server: &Arc<Server>) -> tokio::task::JoinHandle<Vec<u64>> {
    let taker = Arc::clone(server);
    tokio::spawn(async move {
        for _ in 0..3 {
            match taker.take_of(&day(1), 0, 1).await {
                Ok(given) => return given,
                Err(error) => println!("{error}"),
            }
        }
        Vec::new()
    })
}

#[tokio::test(start_paused = true)]
async fn a_period_that_is_over_is_forgotten_whole_and_the_next_one_stays() {
    let world = World::new(2);
    let a = world.open("a").await;
    for key in [day(1), day(2)] {
        for slot in 0..2 {
            a.take_of(&key, slot, 3).await.unwrap();
        }
    }
    let keys = a.guard.keys_between(0, ("order|8:", "order|8:20260402"), 10).await.unwrap();
    assert_eq!(keys, [day(1)]);
    assert_eq!(a.guard.retire(&behind(&day(1)), counters(&day(1))).await.unwrap(), 2);
    for counter in counters(&day(1)) {
        assert_eq!(world.row_of(&counter), None, "{counter:?}");
        assert_eq!(world.stores[usize::from(counter.slot)].snapshot().cell(&day(1)), None);
    }
    let late = world.open("late").await.take_of(&day(1), 0, 1).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Exhausted, "{late}");
    assert!(late.to_string().contains("its period is over for good"), "{late}");
    assert_eq!(a.take_of(&day(2), 0, 1).await.unwrap(), [4], "the day after it goes on");
    let refused = a.guard.retire(&behind(&day(1)), counters(&day(2))).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused, "only what is behind the fence is forgotten");
}

#[tokio::test(start_paused = true)]
async fn whoever_was_held_up_amid_a_first_touch_gives_nothing_afterwards() {
    for (wire, verb, when) in [
        ("ledger", "read", When::After),
        ("ledger", "open", When::Before),
        ("ledger", "noted", When::Before),
        ("ledger", "noted", When::After),
        ("store", "close", When::Before),
        ("store", "close", When::After),
        ("store", "install", When::Before),
    ] {
        let world = World::new(2);
        let (a, b) = (world.open("a").await, world.open("b").await);
        a.take_of(&day(1), 0, 5).await.unwrap();
        // Its cell is gone, and nobody is about to install it: whoever comes has to begin an epoch.
        a.heartbeat().await;
        assert!(world.stores[0].delete(&day(1)));
        let wires = if wire == "ledger" { &b.wires.ledger } else { &b.wires.stores[0] };
        let gate = wires.hold(verb, when);
        let take = taking(&b);
        let case = format!("{wire} {verb} {when:?}");
        let reached = tokio::time::timeout(std::time::Duration::from_secs(60), gate.reached()).await;
        assert!(reached.is_ok(), "{case} was never asked for");
        a.guard.retire(&behind(&day(1)), counters(&day(1))).await.unwrap();
        gate.open();
        let given = take.await.unwrap();
        assert!(given.is_empty(), "{case}: gave {given:?}");
        for _ in 0..3 {
            let again = b.take_of(&day(1), 0, 1).await;
            assert!(again.is_err(), "{case}: gave {again:?}");
        }
        // What it may have left behind goes the next time.
        a.guard.retire(&behind(&day(1)), counters(&day(1))).await.unwrap();
        assert_eq!(world.row_of(&counters(&day(1))[0]), None, "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn where_a_store_is_away_its_counter_keeps_its_row_until_it_is_back() {
    let world = World::new(2);
    let a = world.open("a").await;
    for slot in 0..2 {
        a.take_of(&day(1), slot, 3).await.unwrap();
    }
    world.stores[1].set_away(true);
    assert_eq!(a.guard.retire(&behind(&day(1)), counters(&day(1))).await.unwrap(), 1);
    let [gone, left] = &counters(&day(1))[..] else { panic!("two slots") };
    assert_eq!(world.row_of(gone), None);
    assert!(world.row_of(left).is_some(), "its cell may be there still");
    world.stores[1].set_away(false);
    assert_eq!(a.guard.retire(&behind(&day(1)), vec![left.clone()]).await.unwrap(), 1);
    assert_eq!(world.row_of(left), None);
}

#[tokio::test(start_paused = true)]
async fn a_fence_only_rises_and_is_noted_before_anything_goes() {
    let world = World::new(2);
    let a = world.open("a").await;
    a.take_of(&day(1), 0, 3).await.unwrap();
    assert_eq!(a.guard.fence(&behind(&day(3))).await.unwrap(), 20_260_403);
    assert_eq!(a.guard.fence(&behind(&day(2))).await.unwrap(), 20_260_403);
    let gate = a.wires.stores[0].hold("remove", When::Before);
    let (guard, fence) = (Arc::clone(&a.guard), behind(&day(5)));
    let retire = tokio::spawn(async move { guard.retire(&fence, counters(&day(1))).await });
    gate.reached().await;
    assert_eq!(world.ledger.notes().await.unwrap(), [behind(&day(5)).note()]);
    assert!(world.row_of(&counters(&day(1))[0]).is_some(), "its row goes after its cell");
    gate.open();
    // The other slot has nothing of it, which is as good as gone.
    assert_eq!(retire.await.unwrap().unwrap(), 2);
}

async fn count_of(server: &Server, key: &Key, count: u64) -> Result<u64, SourceError> {
    let ask = DenseAsk { key: key.clone(), count, limit: 1 << 40, above: 0 };
    match server.guard.count(ask).await? {
        DenseTaken::Last(last) => Ok(last),
        other => panic!("{other:?}"),
    }
}

async fn is_refused(server: &Server, key: &Key) {
    let error = count_of(server, key, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exhausted, "{error}");
    assert!(error.to_string().contains("its period is over for good"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn dense_counters_that_are_forgotten_accuse_nobody_and_begin_no_more() {
    let world = World::new(2);
    let (a, b) = (world.open("a").await, world.open("b").await);
    for key in [day(1), day(2)] {
        assert_eq!(count_of(&a, &key, 3).await.unwrap(), 3);
        assert_eq!(count_of(&b, &key, 2).await.unwrap(), 5);
    }
    let span = ("order|8:", "order|8:20260402");
    assert_eq!(a.guard.dense_between(span, 10).await.unwrap(), [day(1)]);
    let refused = a.guard.retire_dense(&behind(&day(1)), &[day(1), day(2)]).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused, "only what is behind the fence is forgotten");
    assert_eq!(a.guard.retire_dense(&behind(&day(1)), &[day(1)]).await.unwrap(), 1);
    assert_eq!(a.guard.dense_between(span, 10).await.unwrap(), []);
    // Neither who gave of it nor who did not, with what each remembers, before a restart of the ledger and after.
    let mut late = vec![Arc::clone(&a), Arc::clone(&b), world.open("late").await];
    for round in 0..2 {
        for server in &late {
            is_refused(server, &day(1)).await;
            assert_eq!(
                (server.guard.trouble(), server.guard.status().dense_behind.len()),
                (None, 0),
                "{round}"
            );
        }
        world.ledger.restart();
        late.push(world.open("later").await);
    }
    assert_eq!(world.ledger.snapshot().dense(Some("order"), 9).len(), 1, "nothing began there");
    for (server, expected) in late.iter().zip(6..) {
        assert_eq!(count_of(server, &day(2), 1).await.unwrap(), expected, "the day after it goes on");
        assert_eq!(server.guard.trouble(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_count_that_was_held_up_until_its_counter_was_forgotten_gives_nothing() {
    for given in [0, 5] {
        let world = World::new(2);
        let (a, b) = (world.open("a").await, world.open("b").await);
        assert_eq!(count_of(&a, &day(1), 5).await.unwrap(), 5);
        if given > 0 {
            assert_eq!(count_of(&b, &day(1), given).await.unwrap(), 5 + given);
        }
        let gate = b.wires.ledger.hold("count", When::Before);
        let late = Arc::clone(&b);
        let count = tokio::spawn(async move { count_of(&late, &day(1), 1).await });
        gate.reached().await;
        a.guard.retire_dense(&behind(&day(1)), &[day(1)]).await.unwrap();
        gate.open();
        let error = count.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Exhausted, "{error}");
        assert_eq!((b.guard.trouble(), world.ledger.dense(None, 9).await.unwrap()), (None, vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn where_all_dense_counters_are_forgotten_a_ledger_that_went_back_is_found_all_the_same() {
    let world = World::new(2);
    let (server, other) = (world.open("server").await, world.open("other").await);
    assert_eq!(count_of(&server, &day(1), 3).await.unwrap(), 3);
    other.guard.retire_dense(&behind(&day(1)), &[day(1)]).await.unwrap();
    other.heartbeat().await;
    let copy = world.ledger.snapshot();
    other.heartbeat().await;
    assert_eq!(count_of(&server, &day(2), 5).await.unwrap(), 5);
    server.kill();
    world.ledger.restore(copy);
    let error = count_of(&other, &day(2), 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
}
