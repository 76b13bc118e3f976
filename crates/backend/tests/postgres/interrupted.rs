//! Rows that somebody holds, and connections: how many there are, and what becomes of idle ones.

use std::{sync::Arc, time::Duration};

use sequent_backend::{net::ServerOptions, postgres::PostgresStore};
use sequent_core::{ErrorKind, Store};
use tokio::task::JoinSet;

use crate::support::{Counting, MAKER, Site, failed, options};

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
    counting.store.disconnect().await;
    site.until(sql, |count| count == "0").await;
    assert_eq!(counting.take(1).await.unwrap().first(), 41);
}

#[tokio::test]
async fn connections_that_died_while_idle_are_found_before_they_are_used() {
    let site = Site::new().await;
    let cautious = ServerOptions { keep_alive: Duration::ZERO, ..options(site.url(MAKER)) };
    let mut counting = Counting::begin(PostgresStore::new(cautious), 0).await;
    for round in 1..=3 {
        assert_eq!(counting.take(1).await.unwrap().first(), round);
        site.server.restart().await;
        // Not `Unavailable`, which would put out a slot whose server is there.
        failed(counting.take(1).await, ErrorKind::InstanceChanged, &["expected postgres"]);
        counting.under = counting.store.inspect().await.unwrap().instance;
    }
}
