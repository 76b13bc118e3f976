//! The ledger's servers: their rows, and one that stalls amid a call.

use std::time::Duration;

use sequent_backend::mysql::MysqlLedger;
use sequent_core::{
    ErrorKind, InstanceId,
    ledger::{Identity, LayoutBook, Pass, Rows, ServerId},
};
use sequent_testkit::proxy::{Mode, Proxy};

use crate::support::{LEDGER, Site};

async fn founded(site: &Site) -> (MysqlLedger, InstanceId) {
    let ledger = MysqlLedger::new(site.options());
    let under = ledger.inspect().await.unwrap().instance;
    (ledger, under)
}

async fn servers(site: &Site) -> String {
    site.server.sql("SELECT server FROM sequent_servers ORDER BY server").await.trim().replace('\n', " ")
}

#[tokio::test]
async fn rows_of_servers_that_no_longer_call_go_after_a_day_where_there_are_many() {
    let site = Site::new(LEDGER).await;
    let (ledger, under) = founded(&site).await;
    ledger.enlist(&under, ServerId(u64::MAX), u64::MAX).await.unwrap();
    let hours = |hours: u64| format!("UPDATE sequent_servers SET seen_ms = seen_ms - {}", hours * 3_600_000);
    site.server.sql(&hours(72)).await;
    ledger.enlist(&under, ServerId(3), 1).await.unwrap();
    assert_eq!(servers(&site).await, "-1 3", "who was suspended for days is still known");
    // As many as are kept, longer dead than anybody.
    site.server.sql("INSERT INTO sequent_servers SELECT seq, 1, 0 FROM seq_10000_to_11023").await;
    ledger.enlist(&under, ServerId(2), 1).await.unwrap();
    let left = servers(&site).await;
    assert!(left.starts_with("-1 2 3 10002 ") && left.ends_with(" 11023"), "{left}");
}

#[tokio::test]
async fn a_server_that_leaves_takes_its_row_with_it() {
    let site = Site::new(LEDGER).await;
    let (ledger, under) = founded(&site).await;
    let (other, _) = founded(&site).await;
    other.enlist(&under, ServerId(7), 1).await.unwrap();
    ledger.enlist(&under, ServerId(8), 1).await.unwrap();
    ledger.disconnect().await;
    assert_eq!(servers(&site).await, "7");
    let pass =
        Pass { under: &under, record: None, server: ServerId(8), nonces: &[1], next: 2, generation: 1 };
    assert_eq!(ledger.raise(pass, &[]).await.unwrap_err().kind(), ErrorKind::InstanceChanged);
    // Whoever never connected has nothing to take along, and connects to nothing for it.
    MysqlLedger::new(site.options_through(1)).disconnect().await;
    assert_eq!(servers(&site).await, "7");
}

#[tokio::test]
async fn of_many_first_servers_one_makes_the_ledger() {
    let site = Site::new(LEDGER).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let ledger = MysqlLedger::new(site.options());
        tasks.spawn(async move { ledger.inspect().await.map(|found| (found.id, found.instance)) });
    }
    let mut found: Vec<_> = tasks.join_all().await.into_iter().map(Result::unwrap).collect();
    found.dedup();
    assert_eq!(found.len(), 1, "{found:?}");
}

#[tokio::test]
async fn a_server_that_stalls_amid_a_call_keeps_the_others_waiting_for_seconds_only() {
    let site = Site::new(LEDGER).await;
    let (other, under) = founded(&site).await;
    other.enlist(&under, ServerId(1), 1).await.unwrap();
    let proxy = Proxy::to(site.server.address()).await;
    let stalled = MysqlLedger::new(site.options_through(proxy.port()));
    stalled.enlist(&under, ServerId(2), 1).await.unwrap();
    // Each statement arrives late: held once the row is locked, the call is stuck with the lock.
    let lag = Duration::from_millis(200);
    proxy.set(Mode::Latency { there: lag, back: Duration::ZERO }).await;
    let own = under.clone();
    let call = tokio::spawn(async move { stalled.enlist(&own, ServerId(2), 2).await });
    while site.server.try_sql("SELECT version FROM sequent_meta FOR UPDATE NOWAIT").await.is_ok() {}
    proxy.set(Mode::Hold).await;
    founded(&site).await.0.layout().await.unwrap();
    let refusal = other.enlist(&under, ServerId(1), 2).await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Contended, "{refusal}");
    let mut tries = 1;
    while let Err(error) = other.enlist(&under, ServerId(1), 2).await {
        assert_eq!(error.kind(), ErrorKind::Contended, "{error}");
        tries += 1;
        // Each waits for a second.
        assert!(tries < 6, "the lock is held for {tries} seconds");
    }
    proxy.set(Mode::Pass).await;
    assert_eq!(call.await.unwrap().unwrap_err().kind(), ErrorKind::Unavailable, "it was cut off");
}
