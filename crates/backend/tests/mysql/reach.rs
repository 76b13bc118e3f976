//! Connections: how many, and what becomes of idle ones.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime},
};

use sequent_backend::{mysql::MysqlRowStore, net::ServerOptions};
use sequent_core::{Clock, Env, ErrorKind, Store, SystemClock};
use tokio::task::JoinSet;

use crate::support::{Hand, ROWS, Site, failed, row};

/// The machine's clock, moved forward by hand.
#[derive(Debug, Default)]
struct StepClock(Mutex<Duration>);

impl Clock for StepClock {
    fn now(&self) -> Instant {
        SystemClock.now() + *self.0.lock().unwrap()
    }

    fn wall(&self) -> SystemTime {
        SystemClock.wall()
    }
}

async fn connections(site: &Site) -> u64 {
    let sql = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'shop'";
    site.server.sql(sql).await.trim().parse().unwrap()
}

#[tokio::test]
async fn no_more_connections_than_allowed_are_opened() {
    let site = Site::new(ROWS).await;
    for most in [1, 3] {
        let options = ServerOptions { connections_max: most, ..site.options() };
        let store = Arc::new(MysqlRowStore::new(options));
        let hand = Arc::new(Hand::of(store.clone()).await.unwrap());
        hand.begin("order", 1, 0).await.unwrap();
        let mut tasks = JoinSet::new();
        for _ in 0..16 {
            let hand = hand.clone();
            tasks.spawn(async move {
                for _ in 0..20 {
                    hand.take("order", 1, 1).await.unwrap();
                }
            });
        }
        tasks.join_all().await;
        assert_eq!(connections(&site).await, most as u64);
        store.disconnect().await;
        while connections(&site).await > 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn an_idle_connection_that_the_server_closed_is_replaced_unnoticed() {
    let site = Site::new(ROWS).await;
    let clock = Arc::new(StepClock::default());
    let options = ServerOptions { env: Env { clock: clock.clone(), ..Env::default() }, ..site.options() };
    let hand = Hand::of(row(options)).await.unwrap();
    hand.begin("order", 1, 0).await.unwrap();
    site.server.sql("KILL USER shop").await;
    *clock.0.lock().unwrap() += Duration::from_secs(2);
    assert_eq!(hand.take("order", 1, 1).await.unwrap().first(), 1);
}

#[tokio::test]
async fn where_one_connection_fell_silent_the_idle_ones_are_not_trusted() {
    let site = Site::new(ROWS).await;
    let hand = Arc::new(Hand::of(row(site.options())).await.unwrap());
    hand.begin("order", 1, 0).await.unwrap();
    while connections(&site).await < 4 {
        let takes = (0..4).map(|_| {
            let hand = hand.clone();
            async move { hand.take("order", 1, 1).await.unwrap() }
        });
        takes.collect::<JoinSet<_>>().join_all().await;
    }
    site.server.suspend().await;
    assert!(tokio::time::timeout(Duration::from_millis(50), hand.take("order", 1, 1)).await.is_err());
    site.server.resume().await;
    for _ in 0..500 {
        if connections(&site).await == 0 {
            hand.take("order", 1, 1).await.unwrap();
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} connections are left", connections(&site).await);
}

#[tokio::test]
async fn a_password_is_read_from_its_file_for_each_connection() {
    let site = Site::new(ROWS).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("password");
    std::fs::write(&path, "a secret\nand a second line\n").unwrap();
    let options = ServerOptions { password_file: Some(path.clone()), ..site.options() };
    let store = MysqlRowStore::new(options.clone());
    store.inspect().await.unwrap();
    store.disconnect().await;
    std::fs::write(&path, "no longer a secret\n").unwrap();
    // It was let in before, so it may be again; whoever comes now does not know of better times.
    failed(store.inspect().await, ErrorKind::Unavailable, &["login refused: 1045"]);
    let begun = row(options.clone());
    failed(begun.inspect().await, ErrorKind::Refused, &["login refused: 1045"]);
    site.server.sql("SET PASSWORD FOR 'shop'@'127.0.0.1' = PASSWORD('no longer a secret')").await;
    store.inspect().await.unwrap();
    std::fs::remove_file(&path).unwrap();
    store.disconnect().await;
    failed(store.inspect().await, ErrorKind::Unavailable, &["password_file", "password: "]);
    failed(row(options).inspect().await, ErrorKind::Refused, &["password_file", "password: "]);
}

#[tokio::test]
async fn a_server_that_is_away_or_silent_is_unavailable_within_the_limit() {
    let site = Site::new(ROWS).await;
    let limit = Duration::from_secs(1);
    let store = row(ServerOptions { connect_timeout: limit, ..site.options() });
    site.server.suspend().await;
    failed(store.inspect().await, ErrorKind::Unavailable, &["not connected within 1000 ms"]);
    site.server.resume().await;
    store.inspect().await.unwrap();
    site.server.kill().await;
    failed(store.inspect().await, ErrorKind::Unavailable, &["mysql://shop@127.0.0.1", "refused"]);
}
