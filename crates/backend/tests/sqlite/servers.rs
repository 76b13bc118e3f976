//! The ledger's rows of servers: they go with the server, or, where there are many, after a day.

#![allow(clippy::cast_possible_wrap, reason = "a few thousand rows")]

use std::time::Duration;

use sequent_backend::sqlite::SqliteLedger;
use sequent_core::{
    ErrorKind, InstanceId, Layout,
    ledger::{Identity, LayoutBook, LayoutRecord, Pass, Rows, ServerId},
};
use sqlx::Connection;

use crate::support::Site;

/// Servers in the ledger, ascending.
async fn servers(site: &Site) -> Vec<i64> {
    let mut stranger = site.stranger().await;
    let query = sqlx::query_as("SELECT server FROM servers ORDER BY server");
    let rows: Vec<(i64,)> = query.fetch_all(&mut stranger).await.unwrap();
    stranger.close().await.unwrap();
    rows.into_iter().map(|(server,)| server).collect()
}

async fn founded(site: &Site) -> (SqliteLedger, InstanceId) {
    let ledger = site.ledger();
    let under = ledger.inspect().await.unwrap().instance;
    (ledger, under)
}

/// Rows that were left by as many servers, the oldest first; so many stay however old they are.
const KEPT: i64 = 1024;

async fn crowd(site: &Site, count: i64) {
    let sql = "WITH RECURSIVE n (i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM n WHERE i < 9999 + ?1) \
        INSERT INTO servers SELECT i, i, i FROM n";
    sqlx::query(sql).bind(count).execute(&mut site.stranger().await).await.unwrap();
}

#[tokio::test]
async fn a_process_that_was_suspended_for_days_is_still_known() {
    let site = Site::new();
    let (ledger, under) = founded(&site).await;
    let layout = Layout::new(0, 0).unwrap();
    let record = LayoutRecord { cluster: "c".parse().unwrap(), layout, generation: 1 };
    ledger.found(&record).await.unwrap();
    ledger.enlist(&under, ServerId(u64::MAX), 1).await.unwrap();
    site.clock.step(Duration::from_hours(72));
    for server in 0..9 {
        site.ledger().enlist(&under, ServerId(server), 1).await.unwrap();
    }
    let pass = Pass {
        under: &under,
        record: None,
        server: ServerId(u64::MAX),
        nonces: &[1],
        next: 2,
        generation: 1,
    };
    ledger.raise(pass, &[]).await.expect("the ledger did not go back, and nobody says so");
}

#[tokio::test]
async fn of_many_rows_those_of_servers_that_no_longer_call_go_after_a_day() {
    let site = Site::new();
    let (ledger, under) = founded(&site).await;
    crowd(&site, KEPT).await;
    ledger.enlist(&under, ServerId(u64::MAX), u64::MAX).await.unwrap();
    assert_eq!(servers(&site).await.len() as i64, KEPT + 1, "there were no more than are kept");
    ledger.enlist(&under, ServerId(3), 1).await.unwrap();
    let left = servers(&site).await;
    assert_eq!((left.len() as i64, left[..2].to_vec(), left[2]), (KEPT + 1, vec![-1, 3], 10_001));
}

#[tokio::test]
async fn many_dead_rows_go_a_few_hundred_at_a_time_and_by_their_index() {
    let site = Site::new();
    let (ledger, under) = founded(&site).await;
    crowd(&site, KEPT + 600).await;
    let sql = "EXPLAIN QUERY PLAN SELECT server FROM servers WHERE seen_ms <= 9 ORDER BY seen_ms LIMIT 9";
    let mut left = Vec::new();
    for server in 0..4 {
        ledger.enlist(&under, ServerId(server), 1).await.unwrap();
        left.push(servers(&site).await.len() as i64 - KEPT);
    }
    assert_eq!(
        left,
        [600 - 256 + 1, 600 - 512 + 2, 1, 1],
        "the longest dead go first, a bounded number at a time"
    );
    let plan: Vec<(i64, i64, i64, String)> =
        sqlx::query_as(sql).fetch_all(&mut site.stranger().await).await.unwrap();
    assert!(plan[0].3.contains("servers_seen"), "{plan:?}");
}

#[tokio::test]
async fn a_server_that_leaves_takes_its_row_with_it() {
    let site = Site::new();
    let (ledger, under) = founded(&site).await;
    let (other, _) = founded(&site).await;
    other.enlist(&under, ServerId(7), 1).await.unwrap();
    ledger.enlist(&under, ServerId(8), 1).await.unwrap();
    ledger.disconnect().await;
    assert_eq!(servers(&site).await, [7]);
    // A call after that is a stranger's, until it enlists again.
    let pass =
        Pass { under: &under, record: None, server: ServerId(8), nonces: &[1], next: 2, generation: 1 };
    assert_eq!(ledger.raise(pass, &[]).await.unwrap_err().kind(), ErrorKind::InstanceChanged);
    ledger.enlist(&under, ServerId(8), 3).await.unwrap();
    assert_eq!(servers(&site).await, [7, 8]);
    // Whoever never connected has nothing to take along, and connects to nothing for it.
    site.ledger().disconnect().await;
    assert_eq!(servers(&site).await, [7, 8]);
}
