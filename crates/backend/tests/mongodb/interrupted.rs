//! Servers killed and hung in the middle of calls, and callers that go away: no reply reaches the next caller.

use std::{sync::Arc, time::Duration};

use sequent_backend::{mongodb::MongodbStore, net::ServerOptions};
use sequent_core::{Cell, ErrorKind, Store};
use sequent_testkit::mongo::{MongoDouble, Setting};
use tokio::{task::JoinSet, time::timeout};

use crate::support::{Counting, epoch, failed, key, options, store, until};

#[tokio::test]
async fn an_answer_that_nobody_waits_for_any_more_reaches_nobody() {
    let server = MongoDouble::start();
    let one = ServerOptions { connections_max: 1, ..options(&server.url()) };
    let counting = Counting::begin(MongodbStore::new(one), 0).await;
    let (other, under) = (key("other"), counting.under.clone());
    let cell = Cell { key: &other, under: &under };
    counting.store.close(cell, epoch(1)).await.unwrap();
    counting.store.install(cell, epoch(1), 1_000_000).await.unwrap();
    for round in 0..4 {
        // Done, and not answered: the answer is on its way when the next caller comes.
        server.withhold_answers();
        assert!(timeout(Duration::from_millis(100), counting.store.take(cell, epoch(1), 7)).await.is_err());
        server.resume();
        assert_eq!(counting.take(1).await.unwrap().first(), 1 + round);
        assert_eq!(counting.store.take(cell, epoch(1), 1).await.unwrap().first(), 1_000_008 + round * 8);
    }
}

#[tokio::test]
async fn a_dropped_verb_costs_its_connection_and_leaves_none_behind() {
    let server = MongoDouble::start();
    let counting = Counting::begin(store(&server), 0).await;
    for round in 0..3 {
        server.suspend();
        assert!(timeout(Duration::from_millis(50), counting.take(1)).await.is_err());
        server.resume();
        counting.take(1).await.unwrap();
        // One that carries verbs, and one by which the driver watches it.
        until(&format!("two connections, round {round}"), || server.connections() == 2).await;
    }
    counting.store.disconnect().await;
    until("no connection", || server.connections() == 0).await;
    counting.take(1).await.unwrap();
}

#[tokio::test]
async fn a_pool_holds_no_more_connections_than_it_may() {
    let server = MongoDouble::start();
    let counting = Arc::new(Counting::begin(store(&server), 0).await);
    let mut tasks = JoinSet::new();
    for _ in 0..40 {
        let counting = Arc::clone(&counting);
        tasks.spawn(async move { counting.take(1).await.map(drop) });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap().unwrap();
    }
    // The driver watches each by another one.
    assert!(server.connections() <= 2 * 4, "{} connections", server.connections());
    assert_eq!(counting.take(1).await.unwrap().first(), 41);
}

#[tokio::test]
async fn a_connection_that_died_while_idle_is_found_before_it_is_used() {
    let server = MongoDouble::start();
    let mut counting = Counting::begin(store(&server), 0).await;
    for round in 1..=3 {
        assert_eq!(counting.take(1).await.unwrap().first(), round);
        server.restart();
        // After that long a connection is not trusted any more.
        tokio::time::sleep(Duration::from_millis(1100)).await;
        // Not `Unavailable`, which would put out a slot whose server is there.
        failed(counting.take(1).await, ErrorKind::InstanceChanged, &["expected mongodb"]);
        counting.under = counting.store.inspect().await.unwrap().instance;
    }
}

#[tokio::test]
async fn a_write_that_the_majority_does_not_acknowledge_gives_nothing() {
    let server = MongoDouble::start();
    let counting = Counting::begin(store(&server), 0).await;
    server.set(Setting::MajorityIsAway(true));
    failed(counting.take(5).await, ErrorKind::Unavailable, &["64", "WriteConcernTimeout"]);
    failed(counting.store.mark(&counting.under, 3).await, ErrorKind::Unavailable, &["64"]);
    failed(counting.store.inspect().await, ErrorKind::Unavailable, &["64"]);
    server.set(Setting::MajorityIsAway(false));
    // It was done, and its numbers are burnt.
    assert_eq!(counting.take(1).await.unwrap().first(), 6);
}
