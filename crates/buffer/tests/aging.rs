//! What ages, what idles, and what handles of their own hold.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::{sync::Arc, time::Duration};

use sequent_buffer::ReservoirConfig;
use sequent_core::Source;
use sequent_testkit::ScriptedSource;
use support::{Leases, SECOND, now, over, settle, with};

#[tokio::test(start_paused = true)]
async fn expired_numbers_never_leave_after_an_expiry() {
    let bench = with(Arc::new(Leases(ScriptedSource::giving(), 100)), ReservoirConfig::default());
    assert_eq!(bench.reservoir.next(None).await.unwrap(), 1);
    tokio::time::sleep(SECOND).await;
    bench.reservoir.expire();
    assert_eq!(bench.reservoir.next(None).await.unwrap(), 2, "still good");
    tokio::time::sleep(SECOND).await;
    bench.reservoir.expire();
    assert_eq!((bench.dropped(), bench.reservoir.stats().reserve), (98, 0));
    let blocks = bench.reservoir.take(3, None).await.unwrap();
    assert_eq!(blocks.numbers().collect::<Vec<_>>(), [101, 102, 103]);
    assert_eq!(blocks.expiry(), Some(now() + 2 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn a_handle_of_its_own_drops_what_may_have_aged() {
    let bench = with(Arc::new(Leases(ScriptedSource::giving(), 10_000)), ReservoirConfig::default());
    let mut local = bench.reservoir.local();
    for expected in 1..=1000 {
        assert_eq!(local.next(None).await.unwrap(), expected);
    }
    let stats = bench.reservoir.stats();
    assert!(stats.at_risk > stats.reserve, "a chunk is in its hands: {stats:?}");
    tokio::time::sleep(3 * SECOND).await;
    bench.reservoir.expire();
    assert!(local.next(None).await.unwrap() > 10_000, "its chunk went with the rest");
    assert_eq!(bench.reservoir.stats().burnt, bench.dropped());
}

#[tokio::test(start_paused = true)]
async fn a_chunk_of_a_range_that_is_closed_ages_with_it() {
    let bench = with(Arc::new(Leases(ScriptedSource::giving(), 10_000)), ReservoirConfig::default());
    let mut local = bench.reservoir.local();
    for _ in 0..1000 {
        local.next(None).await.unwrap();
    }
    tokio::time::sleep(SECOND).await;
    // All of the first lease goes, but for what the handle holds; what follows is a second younger.
    while bench.reservoir.next(None).await.unwrap() <= 10_000 {}
    tokio::time::sleep(SECOND + SECOND / 2).await;
    bench.reservoir.age(Duration::ZERO);
    assert!(bench.reservoir.stats().reserve > 0, "the second lease is still good");
    assert!(local.next(None).await.unwrap() > 10_000, "the handle's part of the first is not");
}

#[tokio::test(start_paused = true)]
async fn what_ages_is_fetched_again_only_where_it_is_used() {
    let source = Arc::new(Leases(ScriptedSource::giving(), 100));
    let bench = with(Arc::clone(&source) as Arc<dyn Source>, ReservoirConfig::default());
    for _ in 0..4 {
        bench.reservoir.take(60, None).await.unwrap();
        tokio::time::sleep(SECOND / 10).await;
    }
    let takes = source.0.takes();
    tokio::time::sleep(3 * SECOND).await;
    bench.reservoir.age(2 * SECOND);
    settle().await;
    assert_eq!((source.0.takes(), bench.reservoir.stats().reserve), (takes, 0), "idle: it lapses");
    bench.reservoir.next(None).await.unwrap();
    bench.reservoir.age(2 * SECOND);
    settle().await;
    assert!(source.0.takes() > takes && bench.reservoir.stats().reserve > 0, "in use: it is filled");
}

#[tokio::test(start_paused = true)]
async fn ready_holds_numbers_and_takes_none() {
    let bench = over(&Arc::new(ScriptedSource::giving()));
    bench.reservoir.ready(10, None).await.unwrap();
    assert_eq!(bench.reservoir.stats().dealt, 0);
    assert_eq!(bench.reservoir.draw().unwrap(), 1, "at once");
    bench.reservoir.disown();
    let dry = bench.reservoir.draw().unwrap_err();
    assert!(bench.reservoir.wait(dry, None).await.unwrap() > 10);
    assert_eq!(bench.dropped(), 0, "what another goes on with is not burnt");
}

#[tokio::test(start_paused = true)]
async fn a_handle_of_its_own_gives_back_what_it_did_not_use() {
    let source = Arc::new(ScriptedSource::giving());
    let bench = over(&source);
    let mut numbers = Vec::new();
    for _ in 0..3 {
        let mut locals = [bench.reservoir.local(), bench.reservoir.local(), bench.reservoir.local()];
        for round in 0..3000 {
            let local = &mut locals[round % 3];
            numbers.push(local.next(None).await.unwrap());
        }
    }
    let stats = bench.reservoir.stats();
    assert_eq!(stats.at_risk, stats.reserve, "nothing is lent any more");
    assert_eq!(stats.dealt + stats.reserve, source.wants().iter().sum::<u64>());
    assert_eq!((stats.dealt, stats.burnt), (9000, 0));
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 9000, "none twice");
}

#[tokio::test(start_paused = true)]
async fn an_idle_reservoir_gives_back_memory_but_not_all_its_numbers() {
    let bench = over(&Arc::new(ScriptedSource::giving()));
    for _ in 0..100 {
        bench.reservoir.next(None).await.unwrap();
        tokio::time::sleep(SECOND / 10).await;
    }
    assert!(bench.reservoir.trim() < SECOND, "it is in use");
    tokio::time::sleep(100 * SECOND).await;
    assert!(bench.reservoir.trim() >= 99 * SECOND);
    let stats = bench.reservoir.stats();
    assert_eq!(stats.burnt, bench.dropped());
    assert!(stats.idle >= 99 * SECOND);
    bench.reservoir.next(None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_dropped_with_the_reservoir_is_said() {
    let bench = over(&Arc::new(ScriptedSource::giving()));
    bench.reservoir.take(1, None).await.unwrap();
    bench.reservoir.take(1, None).await.unwrap();
    settle().await;
    let reserve = bench.reservoir.stats().reserve;
    assert_eq!(reserve, 64);
    let support::Bench { reservoir, events, .. } = bench;
    drop(reservoir);
    assert_eq!(events.lock().unwrap().len(), 1);
}
