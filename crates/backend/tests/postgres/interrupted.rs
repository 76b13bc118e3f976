//! Servers killed and hung in the middle of calls, and callers that go away: no reply reaches the next caller.

use std::{sync::Arc, time::Duration};

use sequent_backend::postgres::{PostgresOptions, PostgresStore};
use sequent_core::{Cell, ErrorKind, Store};
use sequent_testkit::Oracle;
use tokio::{task::JoinSet, time::timeout};

use crate::support::{Counting, MAKER, Site, failed, key, life, options};

/// How many take at once: more than there are connections.
const TAKERS: usize = 8;

#[tokio::test]
async fn a_server_killed_in_the_middle_of_takes_repeats_nothing() {
    let site = Site::new().await;
    let (mut counting, oracle) = (Counting::begin(site.store(), 0).await, Arc::new(Oracle::new()));
    for round in 0..3 {
        let shared = Arc::new(counting);
        let mut tasks = JoinSet::new();
        for _ in 0..TAKERS {
            let (counting, oracle) = (Arc::clone(&shared), Arc::clone(&oracle));
            tasks.spawn(async move {
                loop {
                    match counting.take(3).await {
                        Ok(block) => oracle.add_block(block, "a take").unwrap(),
                        Err(error) => break error,
                    }
                }
            });
        }
        let enough = (round + 1) * 300;
        while oracle.count() < enough {
            tokio::task::yield_now().await;
        }
        site.server.kill().await;
        while let Some(ended) = tasks.join_next().await {
            assert_eq!(ended.unwrap().kind(), ErrorKind::Unavailable);
        }
        site.server.restart().await;
        counting = Arc::into_inner(shared).unwrap();
        counting.under = counting.store.inspect().await.unwrap().incarnation;
    }
}

#[tokio::test]
async fn a_server_that_hangs_costs_connections_and_no_reply_is_mistaken() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    let (other, under) = (key("other"), counting.under.clone());
    let cell = Cell { key: &other, under: &under };
    counting.store.close(cell, life(1)).await.unwrap();
    counting.store.install(cell, life(1), 1_000_000).await.unwrap();
    counting.take(1).await.unwrap();
    for round in 1..=4 {
        site.server.suspend().await;
        for _ in 0..3 {
            let hung = timeout(Duration::from_millis(100), counting.store.take(cell, life(1), 7)).await;
            assert!(hung.is_err(), "a server that hangs answered");
        }
        site.server.resume().await;
        // The takes that hung may be made, and their ids are burnt; the other key's are as they were.
        assert_eq!(counting.take(1).await.unwrap().first(), 1 + round);
        assert!(counting.store.take(cell, life(1), 1).await.unwrap().first() > 1_000_000);
    }
}

#[tokio::test]
async fn a_row_that_somebody_holds_is_contended_and_free_again() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    let holder = "BEGIN; UPDATE sequent_store.cells SET v = v; SELECT pg_sleep(3); COMMIT;";
    let held = async { site.server.sql(holder).await };
    let taken = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3)%' AND wait_event = 'PgSleep'";
        site.until(waiting, |count| count != "0").await;
        let error = counting.take(1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contended, "{error}");
    };
    tokio::join!(held, taken);
    assert_eq!(counting.take(1).await.unwrap().first(), 1);
}

#[tokio::test]
async fn a_pool_holds_no_more_connections_than_it_may() {
    let site = Site::new().await;
    let counting = Arc::new(Counting::begin(site.store(), 0).await);
    let mut tasks = JoinSet::new();
    for _ in 0..40 {
        let counting = Arc::clone(&counting);
        tasks.spawn(async move { counting.take(1).await.map(drop) });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap().unwrap();
    }
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sequent'";
    assert_eq!(site.server.sql(sql).await.trim(), "4");
    counting.store.disconnect();
    site.until(sql, |count| count == "0").await;
    assert_eq!(counting.take(1).await.unwrap().first(), 41);
}

#[tokio::test]
async fn connections_that_died_while_idle_are_found_before_they_are_used() {
    let site = Site::new().await;
    let cautious = PostgresOptions { keep_alive: Duration::ZERO, ..options() };
    let mut counting = Counting::begin(PostgresStore::new(site.url(MAKER), cautious), 0).await;
    for round in 1..=3 {
        assert_eq!(counting.take(1).await.unwrap().first(), round);
        site.server.restart().await;
        // Not `Unavailable`, which would put out a slot whose server is there.
        failed(counting.take(1).await, ErrorKind::Reborn, &["expected postgres"]);
        counting.under = counting.store.inspect().await.unwrap().incarnation;
    }
}
