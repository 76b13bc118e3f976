//! etcd: what outlives a kill, what a copy and a snapshot take back.

use std::time::Duration;

use sequent_testkit::servers::Etcd;
use tokio::time::timeout;

async fn value(server: &Etcd) -> String {
    server.ctl(&["get", "--print-value-only", "n"]).await.trim().to_owned()
}

#[tokio::test]
async fn etcd_keeps_at_a_kill_and_goes_back_by_a_copy_or_a_snapshot() {
    let server = Etcd::start().await;
    server.ctl(&["put", "n", "1"]).await;
    let snapshot = server.snapshot("backup").await;
    server.ctl(&["put", "n", "2"]).await;
    let copy = server.copy().await;
    server.ctl(&["put", "n", "3"]).await;
    server.kill().await;
    assert!(
        server.try_ctl(&["--command-timeout=200ms", "get", "n"]).await.is_err(),
        "a killed member answers"
    );
    server.restart().await;
    assert_eq!(value(&server).await, "3");
    server.restore_from(&copy).await;
    assert_eq!(value(&server).await, "2");
    server.restore_snapshot(&snapshot).await;
    assert_eq!(value(&server).await, "1");
    let range = server.ask("/v3/kv/range", r#"{"key": "bg=="}"#).await;
    assert!(range.contains(r#""value":"MQ==""#), "{range}");
}

#[tokio::test]
async fn a_suspended_etcd_says_nothing_until_it_goes_on() {
    let server = Etcd::start().await;
    server.suspend().await;
    assert!(
        timeout(Duration::from_millis(300), server.ask("/v3/kv/range", r#"{"key": "bg=="}"#)).await.is_err()
    );
    server.resume().await;
    server.ctl(&["put", "n", "1"]).await;
    assert_eq!(value(&server).await, "1");
}
