//! What somebody does to the data by hand: it is noticed, concerns one counter, and only a new epoch brings numbers back.

use sequent_core::{Block, Cell, ErrorKind, Layout, LedgerId, Stamp, Store, Why};
use sequent_testkit::seeded;

use crate::support::{Counting, SHARD, Site, cell_name, epoch, failed, key, owner};

/// How long a time to live is, in milliseconds; it is waited for until it is over.
const SOON_MS: &str = "50";

/// How often a full server is written to, until everything is evicted.
const EVICTIONS_MAX: usize = 200;

fn stamp() -> Stamp {
    let layout = Layout::new(2, 0).unwrap();
    Stamp { ledger: LedgerId::random(&seeded(1)), cluster: owner().cluster, layout, slot: 1, generation: 1 }
}

#[tokio::test]
async fn everything_flushed_leaves_an_empty_store_that_gives_nothing() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    counting.store.stamp(&counting.under, None, &stamp()).await.unwrap();
    counting.take(5).await.unwrap();
    site.server.ask(&["FLUSHALL"]).await;
    // The process is that of before: it is the token that is gone, so that the store is stamped again.
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &["expected redis ", "found redis "]);
    let found = counting.store.inspect().await.unwrap();
    assert_eq!((found.stamp, found.has_cells), (None, false));
    let again = Counting { store: site.store(), under: found.instance, order: key("order") };
    failed(again.take(1).await, ErrorKind::Regressed, &["order in epoch", "found no cell"]);
    assert_eq!(again.reopen(2, 100).await.unwrap(), 0);
    assert_eq!(again.store.take(again.cell(), epoch(2), 1).await.unwrap().first(), 101);
}

#[tokio::test]
async fn a_shards_own_key_that_is_gone_makes_an_empty_store_of_it_and_a_stamp_that_is_gone_does_not() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    counting.store.stamp(&counting.under, None, &stamp()).await.unwrap();
    counting.take(5).await.unwrap();
    site.server.ask(&["HDEL", SHARD, "stamp"]).await;
    let found = counting.store.inspect().await.unwrap();
    assert_eq!((found.stamp, found.has_cells, found.instance), (None, true, counting.under.clone()));
    site.server.ask(&["DEL", SHARD]).await;
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &[]);
    let found = counting.store.inspect().await.unwrap();
    assert_eq!((found.stamp, found.has_cells), (None, false));
    let again = Counting { store: site.store(), under: found.instance, order: key("order") };
    assert_eq!(again.reopen(2, 0).await.unwrap(), 5, "what is there still counts");
    site.server.ask(&["SET", SHARD, "mine"]).await;
    failed(again.take(1).await, ErrorKind::Refused, &["another type"]);
}

#[tokio::test]
async fn a_time_to_live_ends_an_epoch_and_no_more() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    counting.store.stamp(&counting.under, None, &stamp()).await.unwrap();
    counting.take(5).await.unwrap();
    let name = cell_name("order");
    site.server.ask(&["PEXPIRE", &name, SOON_MS]).await;
    site.until(&["EXISTS", &name], |there| there == "0").await;
    failed(counting.take(1).await, ErrorKind::Regressed, &["found 5 in its witness, and no cell"]);
    // What a close finds it keeps from now on; and so does a mark what it is kept with.
    counting.reopen(2, 50).await.unwrap();
    for name in [name.as_str(), SHARD] {
        site.server.ask(&["EXPIRE", name, "1000"]).await;
    }
    counting.reopen(1, 50).await.unwrap();
    counting.store.mark(&counting.under, 0).await.unwrap();
    for name in [name.as_str(), SHARD] {
        assert_eq!(site.server.ask(&["TTL", name]).await, "-1", "{name}");
    }
}

#[tokio::test]
async fn what_is_written_over_a_cell_gives_nothing_and_is_closed_over() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    let name = cell_name("order");
    let odd: &[&[&str]] = &[
        &["SET", &name, "5"],
        &["HSET", &name, "v", "-7"],
        &["HSET", &name, "v", "12 x"],
        &["HSET", &name, "v", "9223372036854775808"],
        &["HSET", &name, "v", "007"],
        &["HSET", &name, "epoch", "x"],
        &["HDEL", &name, "v"],
        &["HDEL", &name, "epoch"],
    ];
    for (turn, words) in odd.iter().enumerate() {
        let base = 1000 * (turn as u64 + 1);
        let given = counting.take(3).await.unwrap().last();
        if words[0] == "SET" {
            site.server.ask(&["DEL", &name]).await;
        }
        site.server.ask(words).await;
        failed(counting.take(1).await, ErrorKind::Regressed, &["order in epoch"]);
        failed(counting.store.lift(counting.cell(), epoch(1), 9).await, ErrorKind::Regressed, &[]);
        let found = counting.reopen(1, base).await.unwrap();
        assert_eq!(found, given, "{words:?}: the witness knows what was given");
        assert_eq!(counting.take(1).await.unwrap().first(), base + 1, "{words:?}");
        let other = key("other");
        let cell = Cell { key: &other, under: &counting.under };
        counting.store.close(cell, epoch(7)).await.unwrap();
    }
}

#[tokio::test]
async fn a_value_that_a_hand_set_gives_nothing_and_a_close_finds_the_higher_one() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 1000).await;
    let name = cell_name("order");
    counting.take(5).await.unwrap();
    // Be it lower by one: the number after it was given.
    for lower in ["10", "1004"] {
        site.server.ask(&["HSET", &name, "v", lower]).await;
        let refusal = counting.take(1).await;
        assert_eq!(refusal.as_ref().unwrap_err().why(), Some(Why::SetByHand));
        failed(refusal, ErrorKind::Regressed, &["order in epoch", lower]);
        failed(counting.store.lift(counting.cell(), epoch(1), 2000).await, ErrorKind::Regressed, &[lower]);
        assert_eq!(counting.reopen(1, 0).await.unwrap(), 1005);
    }
    assert_eq!(counting.take(1).await.unwrap().first(), 1006);
    // Above 2^53 a Lua number would round.
    for far in [(1_u64 << 53) + 1, Block::NUMBER_MAX - 4] {
        site.server.ask(&["HSET", &name, "v", &far.to_string()]).await;
        failed(counting.take(1).await, ErrorKind::Regressed, &[&far.to_string()]);
        assert_eq!(counting.reopen(1, 0).await.unwrap(), far);
        assert_eq!(counting.take(2).await.unwrap(), Block::new(far + 1, 1, 2).unwrap());
        assert_eq!(counting.store.lift(counting.cell(), epoch(1), far + 1).await.unwrap(), far + 2);
        assert_eq!(counting.store.lift(counting.cell(), epoch(1), far + 3).await.unwrap(), far + 3);
        assert_eq!(counting.reopen(1, far).await.unwrap(), far + 3);
    }
    failed(counting.take(2).await, ErrorKind::Exhausted, &["order"]);
    assert_eq!(counting.take(1).await.unwrap().last(), Block::NUMBER_MAX);
}

#[tokio::test]
async fn scripts_that_the_server_forgot_are_sent_again() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    for turn in 1..=3 {
        assert_eq!(counting.take(1).await.unwrap().first(), turn);
        site.server.ask(&["SCRIPT", "FLUSH"]).await;
    }
}

#[tokio::test]
async fn a_server_whose_memory_is_full_gives_nothing_and_goes_on_when_there_is_room() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    counting.take(1).await.unwrap();
    site.server.ask(&["CONFIG", "SET", "maxmemory", "1"]).await;
    failed(counting.take(1).await, ErrorKind::Unavailable, &["memory is full"]);
    site.server.ask(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(counting.take(1).await.unwrap().first(), 2);
}

#[tokio::test]
async fn a_server_that_evicts_forgets_a_cell_and_no_number_comes_back() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    counting.store.stamp(&counting.under, None, &stamp()).await.unwrap();
    counting.take(5).await.unwrap();
    for (name, value) in [("maxmemory-policy", "allkeys-random"), ("maxmemory", "1")] {
        site.server.ask(&["CONFIG", "SET", name, value]).await;
    }
    // Each write makes room first, until nothing is left.
    for _ in 0..EVICTIONS_MAX {
        let _ = site.server.try_ask(&["SET", "a", "b"]).await;
        if site.server.ask(&["DBSIZE"]).await == "0" {
            break;
        }
    }
    site.server.ask(&["CONFIG", "SET", "maxmemory", "0"]).await;
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &[]);
    let found = counting.store.inspect().await.unwrap();
    assert_eq!((found.stamp, found.has_cells), (None, false));
}
