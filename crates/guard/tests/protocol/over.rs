//! Periods that are over: counters that are forgotten begin no more, whoever comes late, and wherever it was cut off.

use std::sync::Arc;

use sequent_core::{
    ErrorKind, Key,
    ledger::{Advanced, Catalog, Counter},
};

use crate::harness::{Server, When, World};

fn day(of_month: u8) -> Key {
    Key::from_stored(&format!("order|8:202604{of_month:02}|3:010"))
}

fn behind(key: &Key) -> Advanced {
    Advanced::fence(key).unwrap()
}

fn counters(key: &Key) -> Vec<Counter> {
    (0..2).map(|slot| Counter { slot, key: key.clone() }).collect()
}

/// The first day is over and forgotten by one server; another, which knows of nothing, is asked for it.
pub(crate) async fn whoever_comes_late(world: &World) {
    let (a, b) = (world.open("a").await, world.open("b").await);
    a.take_of(&day(1), 0, 5).await.unwrap();
    a.keeper.retire(&behind(&day(1)), counters(&day(1))).await.unwrap();
    for server in [&b, &a] {
        for _ in 0..5 {
            drop(server.take_of(&day(1), 0, 1).await);
        }
    }
}

/// Asks for one id of the first day in a task of its own, again where its life was lost: what it was given.
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
    let keys = a.keeper.keys_between(0, ("order|8:", "order|8:20260402"), 10).await.unwrap();
    assert_eq!(keys, [day(1)]);
    assert_eq!(a.keeper.retire(&behind(&day(1)), counters(&day(1))).await.unwrap(), 2);
    for counter in counters(&day(1)) {
        assert_eq!(world.row_of(&counter), None, "{counter:?}");
        assert_eq!(world.stores[usize::from(counter.slot)].snapshot().cell(&day(1)), None);
    }
    let late = world.open("late").await.take_of(&day(1), 0, 1).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Exhausted, "{late}");
    assert!(late.to_string().contains("its period is over for good"), "{late}");
    assert_eq!(a.take_of(&day(2), 0, 1).await.unwrap(), [4], "the day after it goes on");
    let refused = a.keeper.retire(&behind(&day(1)), counters(&day(2))).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused, "only what is behind the fence is forgotten");
}

#[tokio::test(start_paused = true)]
async fn whoever_was_held_up_amid_a_first_touch_gives_nothing_afterwards() {
    for (wire, verb, when) in [
        ("ledger", "read", When::After),
        ("ledger", "open", When::Before),
        ("ledger", "fence", When::Before),
        ("ledger", "fence", When::After),
        ("store", "close", When::Before),
        ("store", "close", When::After),
        ("store", "install", When::Before),
    ] {
        let world = World::new(2);
        let (a, b) = (world.open("a").await, world.open("b").await);
        a.take_of(&day(1), 0, 5).await.unwrap();
        // Its cell is gone, and nobody is about to install it: whoever comes has to begin a life.
        a.shows_up().await;
        assert!(world.stores[0].delete(&day(1)));
        let wires = if wire == "ledger" { &b.wires.ledger } else { &b.wires.stores[0] };
        let gate = wires.hold(verb, when);
        let take = taking(&b);
        let case = format!("{wire} {verb} {when:?}");
        let reached = tokio::time::timeout(std::time::Duration::from_secs(60), gate.reached()).await;
        assert!(reached.is_ok(), "{case} was never asked for");
        a.keeper.retire(&behind(&day(1)), counters(&day(1))).await.unwrap();
        gate.open();
        let given = take.await.unwrap();
        assert!(given.is_empty(), "{case}: gave {given:?}");
        for _ in 0..3 {
            let again = b.take_of(&day(1), 0, 1).await;
            assert!(again.is_err(), "{case}: gave {again:?}");
        }
        // What it may have left behind goes the next time.
        a.keeper.retire(&behind(&day(1)), counters(&day(1))).await.unwrap();
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
    assert_eq!(a.keeper.retire(&behind(&day(1)), counters(&day(1))).await.unwrap(), 1);
    let [gone, left] = &counters(&day(1))[..] else { panic!("two slots") };
    assert_eq!(world.row_of(gone), None);
    assert!(world.row_of(left).is_some(), "its cell may be there still");
    world.stores[1].set_away(false);
    assert_eq!(a.keeper.retire(&behind(&day(1)), vec![left.clone()]).await.unwrap(), 1);
    assert_eq!(world.row_of(left), None);
}

#[tokio::test(start_paused = true)]
async fn a_fence_only_rises_and_is_noted_before_anything_goes() {
    let world = World::new(2);
    let a = world.open("a").await;
    a.take_of(&day(1), 0, 3).await.unwrap();
    assert_eq!(a.keeper.fence(&behind(&day(3))).await.unwrap(), 20_260_403);
    assert_eq!(a.keeper.fence(&behind(&day(2))).await.unwrap(), 20_260_403);
    let gate = a.wires.stores[0].hold("remove", When::Before);
    let (keeper, fence) = (Arc::clone(&a.keeper), behind(&day(5)));
    let retire = tokio::spawn(async move { keeper.retire(&fence, counters(&day(1))).await });
    gate.reached().await;
    assert_eq!(world.ledger.advanced().await.unwrap(), [behind(&day(5))]);
    assert!(world.row_of(&counters(&day(1))[0]).is_some(), "its row goes after its cell");
    gate.open();
    // The other slot has nothing of it, which is as good as gone.
    assert_eq!(retire.await.unwrap().unwrap(), 2);
}
