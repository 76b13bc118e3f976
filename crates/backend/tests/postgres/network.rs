//! Networks that fail between us and the server: replies cut at every byte, silence, resets, slowness.

use std::{sync::Arc, time::Duration};

use sequent_backend::{net::ServerOptions, postgres::PostgresStore};
use sequent_core::ErrorKind;
use sequent_testkit::{
    Oracle,
    proxy::{Direction, Mode, Proxy},
};
use tokio::{task::JoinSet, time::timeout};

use crate::support::{Counting, MAKER, PASSWORD, Site, options};

/// More than the reply to a take has.
const BYTES: u64 = 90;

/// A store behind a proxy, with so many connections.
async fn behind(site: &Site, pool: usize) -> (Proxy, Counting) {
    let proxy = Proxy::to(site.server.address()).await;
    let url = format!("postgres://{MAKER}:{PASSWORD}@{}/postgres", proxy.address()).parse().unwrap();
    let store = PostgresStore::new(ServerOptions { connections_max: pool, ..options(url) });
    let counting = Counting::begin(store, 0).await;
    (proxy, counting)
}

#[tokio::test]
async fn a_reply_cut_at_any_byte_gives_nothing_twice() {
    let site = Site::new().await;
    let (proxy, counting) = behind(&site, 1).await;
    let (oracle, mut lost) = (Oracle::new(), 0);
    for after_bytes in 0..BYTES {
        proxy.set(Mode::Cut { direction: Direction::Back, after_bytes }).await;
        match counting.take(3).await {
            Ok(block) => oracle.add_block(block, "a take that was to be cut").unwrap(),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                lost += 1;
            }
        }
        proxy.set(Mode::Pass).await;
        // Whatever was left of a connection that is about to be cut is used up; the next is whole.
        for _ in 0..2 {
            let Ok(block) = counting.take(2).await else { continue };
            assert_eq!(block.count(), 2);
            oracle.add_block(block, "a take after it").unwrap();
        }
    }
    assert!((40..BYTES).contains(&lost), "{lost} replies were cut: they have some sixty bytes");
    assert!(oracle.count() > BYTES * 2);
}

/// Lays as many connections idle as there may be.
async fn fill(counting: &Arc<Counting>, pool: usize) {
    let mut tasks = JoinSet::new();
    for _ in 0..pool * 4 {
        let counting = Arc::clone(counting);
        tasks.spawn(async move { counting.take(1).await.map(drop) });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap().unwrap();
    }
}

#[tokio::test]
async fn after_a_silence_the_first_verb_is_served() {
    let site = Site::new().await;
    for silence in [Mode::BlackHole, Mode::HalfOpen] {
        let (proxy, counting) = behind(&site, 4).await;
        let counting = Arc::new(counting);
        fill(&counting, 4).await;
        let before = counting.take(1).await.unwrap().last();
        proxy.set(silence).await;
        assert!(timeout(Duration::from_millis(200), counting.take(1)).await.is_err(), "{silence:?}");
        proxy.set(Mode::Pass).await;
        // Not one timeout for each connection that lay idle: all were given up with the first.
        let after = counting.take(1).await.unwrap();
        assert!(after.first() > before, "{after} after {before}");
        drop(proxy);
    }
}

#[tokio::test]
async fn a_slow_network_is_slow_and_no_more() {
    let site = Site::new().await;
    let (proxy, counting) = behind(&site, 2).await;
    let there = Duration::from_millis(150);
    proxy.set(Mode::Latency { there, back: there }).await;
    for first in 1..=3 {
        assert_eq!(counting.take(1).await.unwrap().first(), first);
    }
    proxy.set(Mode::Reset).await;
    assert_eq!(counting.take(1).await.unwrap_err().kind(), ErrorKind::Unavailable);
    proxy.set(Mode::Pass).await;
    assert!(counting.take(1).await.unwrap().first() >= 4);
}
