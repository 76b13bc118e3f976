//! What memcached forgets, and when: it is noticed, and only a new epoch brings numbers back.

use sequent_core::{Cell, Epoch, ErrorKind, Layout, LedgerId, Stamp, Store};
use sequent_testkit::{seeded, servers::Memcached};

use crate::support::{Counting, SHARD, cell_name, epoch, failed, key, owner, store};

fn stamp() -> Stamp {
    let layout = Layout::new(2, 0).unwrap();
    Stamp { ledger: LedgerId::random(&seeded(1)), cluster: owner().cluster, layout, slot: 1, generation: 1 }
}

#[tokio::test]
async fn a_restart_forgets_everything_and_is_another_instance() {
    let server = Memcached::start().await;
    let counting = Counting::begin(store(&server), 0).await;
    counting.store.stamp(&counting.under, None, &stamp()).await.unwrap();
    counting.store.mark(&counting.under, 9).await.unwrap();
    counting.take(5).await.unwrap();
    server.restart().await;
    // The connection of before broke; the next verb meets another process.
    let _ = counting.take(1).await;
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &["expected memcached ", "found memcached "]);
    let now = counting.store.inspect().await.unwrap();
    assert!(now.instance != counting.under && now.stamp.is_none() && !now.has_cells, "{now:?}");
    let cell = Cell { key: &counting.order, under: &now.instance };
    failed(counting.store.take(cell, epoch(1), 1).await, ErrorKind::Regressed, &["found no cell"]);
    assert_eq!(counting.store.mark(&now.instance, 0).await.unwrap(), 0);
    assert_eq!(counting.store.close(cell, epoch(2)).await.unwrap(), 0);
    counting.store.install(cell, epoch(2), 100).await.unwrap();
    assert_eq!(counting.store.take(cell, epoch(2), 1).await.unwrap().first(), 101);
}

#[tokio::test]
async fn a_time_to_live_given_by_hand_ends_with_the_next_take_or_with_the_epoch() {
    let server = Memcached::start().await;
    let counting = Counting::begin(store(&server), 0).await;
    let name = cell_name("order");
    assert_eq!(server.ask(&format!("touch {name} 1000")).await, "TOUCHED");
    counting.take(1).await.unwrap();
    assert_eq!(server.ask(&format!("mg {name} t")).await, "HD t-1");
    // At once, as any other time that is over.
    assert_eq!(server.ask(&format!("touch {name} -1")).await, "TOUCHED");
    failed(counting.take(1).await, ErrorKind::Regressed, &["found no cell"]);
    assert_eq!(counting.reopen(2, 50).await.unwrap(), 0);
    assert_eq!(counting.store.take(counting.cell(), epoch(2), 1).await.unwrap().first(), 51);
}

#[tokio::test]
async fn what_is_written_by_hand_gives_nothing_and_is_closed_over() {
    let server = Memcached::start().await;
    let counting = Counting::begin(store(&server), 0).await;
    for (turn, odd) in ["12 x", "1 1 -5", "1 1 9223372036854775808", "1 1 7 ", "1"].into_iter().enumerate() {
        counting.take(3).await.unwrap();
        let set = format!("ms {} {}\r\n{odd}", cell_name("order"), odd.len());
        assert_eq!(server.ask(&set).await, "HD");
        failed(counting.take(1).await, ErrorKind::Regressed, &["order in epoch"]);
        failed(counting.store.lift(counting.cell(), epoch(1), 9).await, ErrorKind::Regressed, &[]);
        failed(counting.store.install(counting.cell(), epoch(1), 9).await, ErrorKind::Regressed, &[]);
        let base = 1000 * (turn as u64 + 1);
        assert_eq!(counting.reopen(1, base).await.unwrap(), 0, "{odd:?}");
        assert_eq!(counting.take(1).await.unwrap().first(), base + 1, "{odd:?}");
    }
    let set = format!("ms {SHARD} 4\r\nhaha");
    assert_eq!(server.ask(&set).await, "HD");
    failed(counting.store.inspect().await, ErrorKind::Refused, &["no verb has left"]);
    failed(counting.take(1).await, ErrorKind::Refused, &["no verb has left"]);
}

#[tokio::test]
async fn everything_flushed_is_another_instance_that_is_stamped_again() {
    let server = Memcached::start().await;
    let counting = Counting::begin(store(&server), 0).await;
    counting.store.stamp(&counting.under, None, &stamp()).await.unwrap();
    counting.take(5).await.unwrap();
    for flush in ["flush_all", &format!("delete {SHARD}")] {
        let under = counting.store.inspect().await.unwrap().instance;
        let cell = Cell { key: &counting.order, under: &under };
        counting.store.close(cell, epoch(3)).await.unwrap();
        counting.store.install(cell, epoch(3), 9).await.unwrap();
        server.ask(flush).await;
        // Not a cell: a stamp beside it would never come back.
        for _ in 0..2 {
            failed(counting.store.close(cell, epoch(4)).await, ErrorKind::InstanceChanged, &[]);
            failed(counting.store.take(cell, epoch(3), 1).await, ErrorKind::InstanceChanged, &[]);
            failed(counting.store.mark(&under, 7).await, ErrorKind::InstanceChanged, &[]);
            failed(counting.store.stamp(&under, None, &stamp()).await, ErrorKind::InstanceChanged, &[]);
        }
        let found = counting.store.inspect().await.unwrap();
        assert_eq!((found.stamp, found.has_cells), (None, false), "{flush}");
        counting.store.stamp(&found.instance, None, &stamp()).await.unwrap();
    }
}

/// Cells that push each other out of two megabytes.
const CELLS: u64 = 20_000;
/// How many of them are made between two uses of what is to stay.
const USED_EVERY: u64 = 250;

#[tokio::test]
async fn a_cell_that_was_evicted_gives_nothing_and_what_is_in_use_stays() {
    let server = Memcached::start_with(&[("memory-limit", "2")]).await;
    let (store, entropy) = (store(&server), seeded(11));
    let under = store.inspect().await.unwrap().instance;
    store.stamp(&under, None, &stamp()).await.unwrap();
    let (busy, mut first) = (Counting::begin(store, 0).await, None);
    let store = &busy.store;
    for at in 0..CELLS {
        if at % USED_EVERY == 0 {
            assert_eq!(busy.take(1).await.unwrap().first(), 1 + at / USED_EVERY);
        }
        let (order, token) = (key(&format!("order-{at}-{}", "x".repeat(100))), Epoch::random(&entropy));
        let cell = Cell { key: &order, under: &under };
        assert_eq!(store.close(cell, token).await.unwrap(), 0);
        store.install(cell, token, 10).await.unwrap();
        first.get_or_insert((order, token));
    }
    let (order, token) = first.unwrap();
    let cell = Cell { key: &order, under: &under };
    failed(store.take(cell, token, 1).await, ErrorKind::Regressed, &["found no cell"]);
    assert_eq!(store.close(cell, epoch(7)).await.unwrap(), 0);
    assert_eq!(store.inspect().await.unwrap().stamp, Some(stamp()), "what is in use is kept");
}
