//! Expiry, idle reservoirs, and chunks of local handles.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::{sync::Arc, time::Duration};

use sequent_buffer::ReservoirConfig;
use sequent_core::Source;
use sequent_testkit::ScriptedSource;
use support::{Leases, SECOND, now, over, settle, with};

#[tokio::test(start_paused = true)]
async fn expired_numbers_never_leave_after_an_expiry() {
    let fixture = with(Arc::new(Leases(ScriptedSource::giving(), 100)), ReservoirConfig::default());
    assert_eq!(fixture.reservoir.next(None).await.unwrap(), 1);
    tokio::time::sleep(SECOND).await;
    fixture.reservoir.expire();
    assert_eq!(fixture.reservoir.next(None).await.unwrap(), 2, "still good");
    tokio::time::sleep(SECOND).await;
    fixture.reservoir.expire();
    assert_eq!((fixture.dropped(), fixture.reservoir.stats().reserve), (98, 0));
    let blocks = fixture.reservoir.take(3, None).await.unwrap();
    assert_eq!(blocks.numbers().collect::<Vec<_>>(), [101, 102, 103]);
    assert_eq!(blocks.expiry(), Some(now() + 2 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn a_local_handle_drops_numbers_that_may_have_expired() {
    let fixture = with(Arc::new(Leases(ScriptedSource::giving(), 10_000)), ReservoirConfig::default());
    let mut local = fixture.reservoir.local();
    for expected in 1..=1000 {
        assert_eq!(local.next(None).await.unwrap(), expected);
    }
    let stats = fixture.reservoir.stats();
    assert!(stats.at_risk > stats.reserve, "the handle holds a chunk: {stats:?}");
    tokio::time::sleep(3 * SECOND).await;
    fixture.reservoir.expire();
    assert!(local.next(None).await.unwrap() > 10_000, "its chunk expired with the rest");
    assert_eq!(fixture.reservoir.stats().discarded, fixture.dropped());
}

#[tokio::test(start_paused = true)]
async fn a_chunk_expires_with_its_closed_range() {
    let fixture = with(Arc::new(Leases(ScriptedSource::giving(), 10_000)), ReservoirConfig::default());
    let mut local = fixture.reservoir.local();
    for _ in 0..1000 {
        local.next(None).await.unwrap();
    }
    tokio::time::sleep(SECOND).await;
    // The first lease is used up but for the handle's chunk. The second lease expires a second later.
    while fixture.reservoir.next(None).await.unwrap() <= 10_000 {}
    tokio::time::sleep(SECOND + SECOND / 2).await;
    fixture.reservoir.expire_and_refill_if_active(Duration::ZERO);
    assert!(fixture.reservoir.stats().reserve > 0, "the second lease is still good");
    assert!(local.next(None).await.unwrap() > 10_000, "the handle's chunk of the first has expired");
}

#[tokio::test(start_paused = true)]
async fn expired_numbers_are_fetched_again_only_if_the_key_is_used() {
    let source = Arc::new(Leases(ScriptedSource::giving(), 100));
    let fixture = with(Arc::clone(&source) as Arc<dyn Source>, ReservoirConfig::default());
    for _ in 0..4 {
        fixture.reservoir.take(60, None).await.unwrap();
        tokio::time::sleep(SECOND / 10).await;
    }
    let takes = source.0.takes();
    tokio::time::sleep(3 * SECOND).await;
    fixture.reservoir.expire_and_refill_if_active(2 * SECOND);
    settle().await;
    assert_eq!((source.0.takes(), fixture.reservoir.stats().reserve), (takes, 0), "idle: not refilled");
    fixture.reservoir.next(None).await.unwrap();
    fixture.reservoir.expire_and_refill_if_active(2 * SECOND);
    settle().await;
    assert!(source.0.takes() > takes && fixture.reservoir.stats().reserve > 0, "in use: refilled");
}

#[tokio::test(start_paused = true)]
async fn prefetch_holds_numbers_and_takes_none() {
    let fixture = over(&Arc::new(ScriptedSource::giving()));
    fixture.reservoir.prefetch(10, None).await.unwrap();
    assert_eq!(fixture.reservoir.stats().issued, 0);
    assert_eq!(fixture.reservoir.draw().unwrap(), 1, "at once");
    fixture.reservoir.forget_all();
    let empty = fixture.reservoir.draw().unwrap_err();
    assert!(fixture.reservoir.wait(empty, None).await.unwrap() > 10);
    assert_eq!(fixture.dropped(), 0, "forgotten numbers are not reported as discarded");
}

#[tokio::test(start_paused = true)]
async fn a_local_handle_returns_what_it_did_not_use() {
    let source = Arc::new(ScriptedSource::giving());
    let fixture = over(&source);
    let mut numbers = Vec::new();
    for _ in 0..3 {
        let mut locals = [fixture.reservoir.local(), fixture.reservoir.local(), fixture.reservoir.local()];
        for round in 0..3000 {
            let local = &mut locals[round % 3];
            numbers.push(local.next(None).await.unwrap());
        }
    }
    let stats = fixture.reservoir.stats();
    assert_eq!(stats.at_risk, stats.reserve, "nothing is lent any more");
    assert_eq!(stats.issued + stats.reserve, source.wants().iter().sum::<u64>());
    assert_eq!((stats.issued, stats.discarded), (9000, 0));
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 9000, "none twice");
}

#[tokio::test(start_paused = true)]
async fn an_idle_reservoir_frees_memory_but_keeps_some_numbers() {
    let fixture = over(&Arc::new(ScriptedSource::giving()));
    for _ in 0..100 {
        fixture.reservoir.next(None).await.unwrap();
        tokio::time::sleep(SECOND / 10).await;
    }
    assert!(fixture.reservoir.trim() < SECOND, "it is in use");
    tokio::time::sleep(100 * SECOND).await;
    assert!(fixture.reservoir.trim() >= 99 * SECOND);
    let stats = fixture.reservoir.stats();
    assert_eq!(stats.discarded, fixture.dropped());
    assert!(stats.idle >= 99 * SECOND);
    fixture.reservoir.next(None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn numbers_dropped_with_the_reservoir_are_reported() {
    let fixture = over(&Arc::new(ScriptedSource::giving()));
    fixture.reservoir.take(1, None).await.unwrap();
    fixture.reservoir.take(1, None).await.unwrap();
    settle().await;
    let reserve = fixture.reservoir.stats().reserve;
    assert_eq!(reserve, 64);
    let support::Fixture { reservoir, events, .. } = fixture;
    drop(reservoir);
    assert_eq!(events.lock().unwrap().len(), 1);
}
