//! Who speaks: processes, and histories of data under one process.

use sequent_core::{Cell, ErrorKind, Store};
use sequent_testkit::servers::Redis;

use crate::support::{Counting, DURABLE, FORGETFUL, Site, cell_name, epoch, failed};

/// Makes `replica` follow `primary`, and waits until it has all of its data.
async fn follow(replica: &Redis, primary: &Redis) {
    replica.ask(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]).await;
    let upto =
        |info: &str| info.contains("master_link_status:up") && info.contains("master_sync_in_progress:0");
    for _ in 0..1500 {
        if replica.try_ask(&["INFO", "replication"]).await.is_ok_and(|info| upto(&info)) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the replica does not follow: {}", replica.log());
}

#[tokio::test]
async fn a_server_without_persistence_comes_back_as_another_and_empty() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    counting.take(5).await.unwrap();
    counting.store.mark(&counting.under, 7).await.unwrap();
    site.server.kill().await;
    site.restart().await;
    let _ = counting.take(1).await;
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &["expected redis ", "found redis "]);
    let now = counting.store.inspect().await.unwrap();
    assert!(now.stamp.is_none() && !now.has_cells, "{now:?}");
    let cell = Cell { key: &counting.order, under: &now.instance };
    failed(counting.store.take(cell, epoch(1), 1).await, ErrorKind::Regressed, &["found no cell"]);
    assert_eq!(counting.store.close(cell, epoch(2)).await.unwrap(), 0);
}

#[tokio::test]
async fn a_durable_server_comes_back_as_another_with_every_number() {
    let site = Site::with(DURABLE).await;
    let counting = Counting::begin(site.store(), 0).await;
    counting.take(5).await.unwrap();
    site.server.kill().await;
    site.restart().await;
    let _ = counting.take(1).await;
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &[]);
    let under = counting.store.inspect().await.unwrap().instance;
    let cell = Cell { key: &counting.order, under: &under };
    assert_eq!(counting.store.take(cell, epoch(1), 1).await.unwrap().first(), 6);
}

#[tokio::test]
async fn a_replica_counts_nothing_and_is_another_once_it_is_promoted() {
    let (site, replica) = (Site::new().await, Site::new().await);
    // A server with its first replica has another history than the one before.
    follow(&replica.server, &site.server).await;
    let counting = Counting::begin(site.store(), 0).await;
    let away = replica.store().inspect().await;
    failed(away, ErrorKind::Unavailable, &["role is slave of 127.0.0.1", "connect to its primary"]);
    counting.take(5).await.unwrap();
    replica.until(&["EXISTS", &cell_name("order")], |there| there == "1").await;
    replica.server.ask(&["REPLICAOF", "NO", "ONE"]).await;
    let now = replica.store().inspect().await.unwrap();
    assert!(now.instance != counting.under && now.has_cells, "{now:?}");
}

#[tokio::test]
async fn a_server_demoted_and_promoted_again_is_another_on_connections_that_stayed() {
    let (site, other) = (Site::new().await, Site::new().await);
    follow(&other.server, &site.server).await;
    let counting = Counting::begin(site.store(), 0).await;
    // The other one has the first numbers, and not those after.
    counting.take(5).await.unwrap();
    other.until(&["HGET", &cell_name("order"), "v"], |value| value == "5").await;
    other.server.ask(&["REPLICAOF", "NO", "ONE"]).await;
    assert_eq!(counting.take(4).await.unwrap().last(), 9);
    follow(&site.server, &other.server).await;
    let clients = site.server.ask(&["CLIENT", "LIST", "TYPE", "normal"]).await;
    assert!(clients.contains("user=sequent"), "the connection stayed: {clients}");
    let refused = counting.take(1).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "a replica counts nothing: {refused}");
    // Whatever was connected before, a process that slept through it all included.
    let slept =
        Counting { store: site.store(), under: counting.under.clone(), order: counting.order.clone() };
    failed(slept.take(1).await, ErrorKind::Unavailable, &["replica"]);
    site.server.ask(&["REPLICAOF", "NO", "ONE"]).await;
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &[]);
    let under = counting.store.inspect().await.unwrap().instance;
    let cell = Cell { key: &counting.order, under: &under };
    assert_eq!(counting.store.close(cell, epoch(2)).await.unwrap(), 5, "what the other one had");
}

#[tokio::test]
async fn a_connection_that_slept_through_a_demotion_touches_nothing() {
    let (site, other) = (Site::new().await, Site::new().await);
    follow(&other.server, &site.server).await;
    let counting = Counting::begin(site.store(), 0).await;
    counting.take(5).await.unwrap();
    other.until(&["HGET", &cell_name("order"), "v"], |value| value == "5").await;
    other.server.ask(&["REPLICAOF", "NO", "ONE"]).await;
    assert_eq!(counting.take(4).await.unwrap().last(), 9);
    follow(&site.server, &other.server).await;
    site.server.ask(&["REPLICAOF", "NO", "ONE"]).await;
    // The process and the connection are those of before, and the epoch is open: only its history tells.
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &[]);
    failed(counting.store.lift(counting.cell(), epoch(1), 0).await, ErrorKind::InstanceChanged, &[]);
}

#[tokio::test]
async fn a_copy_put_back_is_another() {
    let site = Site::with(FORGETFUL).await;
    let counting = Counting::begin(site.store(), 0).await;
    counting.take(5).await.unwrap();
    site.server.ask(&["SAVE"]).await;
    let file = site.server.folder().join("data/dump.rdb");
    let copy = std::fs::read(&file).unwrap();
    counting.take(4).await.unwrap();
    site.server.kill().await;
    std::fs::write(&file, copy).unwrap();
    site.restart().await;
    let _ = counting.take(1).await;
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &[]);
    let under = counting.store.inspect().await.unwrap().instance;
    let cell = Cell { key: &counting.order, under: &under };
    assert_eq!(counting.store.close(cell, epoch(2)).await.unwrap(), 5, "the copy's value");
}
