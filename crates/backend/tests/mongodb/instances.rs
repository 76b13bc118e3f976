//! Servers that die, are voted out and are put back: each time another instance speaks, and no id is given twice.

use std::{collections::BTreeSet, time::Duration};

use sequent_backend::{mongodb::MongodbStore, net::ServerOptions};
use sequent_core::{ErrorKind, Store};
use sequent_testkit::mongo::{MongoDouble, Role, Setting};

use crate::support::{CELLS, Counting, SHARD, epoch, failed, options, store, until};

#[tokio::test]
async fn a_server_killed_again_and_again_forgets_nothing_that_it_acknowledged() {
    let server = MongoDouble::start();
    let mut counting = Counting::begin(store(&server), 0).await;
    let (mut highest, mut spoke) = (0, BTreeSet::from([counting.under.clone()]));
    for round in 0..5 {
        for _ in 0..20 {
            highest = counting.take(1 + round).await.unwrap().last();
        }
        server.restart();
        let old = counting.under.clone();
        let refusal = counting.take(1).await.unwrap_err();
        assert!(matches!(refusal.kind(), ErrorKind::InstanceChanged | ErrorKind::Unavailable), "{refusal}");
        counting.under = counting.store.inspect().await.unwrap().instance;
        assert!(old != counting.under && spoke.insert(counting.under.clone()), "an instance came back");
        let first = counting.take(1).await.unwrap().first();
        assert_eq!(first, highest + 1, "what was acknowledged is lost, or what was refused was done");
        highest = first;
    }
}

/// The driver opens connections by itself: none of them may carry a verb to whoever listens there by now.
#[tokio::test]
async fn a_verb_is_never_sent_to_a_server_that_was_restarted_meanwhile() {
    let server = MongoDouble::start();
    // As often as the driver looks, so that it finds the new server by itself before anybody asks.
    let watching = ServerOptions {
        keep_alive: Duration::from_millis(500),
        connections_max: 1,
        ..options(&server.url())
    };
    let mut counting = Counting::begin(MongodbStore::new(watching), 0).await;
    let copy = server.copy();
    for round in 1..=3 {
        counting.take(10).await.unwrap();
        server.restore(&copy);
        until("the driver's watch is back", || server.connections() > 0).await;
        // It has asked, and says that connections may be opened.
        tokio::time::sleep(Duration::from_millis(100)).await;
        for _ in 0..3 {
            let refusal = counting.take(1).await.unwrap_err();
            assert!(
                matches!(refusal.kind(), ErrorKind::InstanceChanged | ErrorKind::Unavailable),
                "{refusal}"
            );
        }
        assert!(counting.store.close(counting.cell(), epoch(2)).await.is_err());
        let done: Vec<_> = server.commands().into_iter().filter(is_change).collect();
        assert!(done.is_empty(), "done under another instance, round {round}: {done:?}");
        counting = Counting::begin(counting.store, 100 * round).await;
    }
}

/// Whether a command changes a cell.
fn is_change(command: &bson::Document) -> bool {
    command.get_str("findAndModify").is_ok_and(|name| name == CELLS)
        && command.get_document("query").is_ok_and(|query| query.get("_id") != Some(&bson::Bson::Null))
}

#[tokio::test]
async fn collections_put_back_under_connections_are_noticed_by_the_next_verb() {
    let server = MongoDouble::start();
    let mut counting = Counting::begin(store(&server), 100).await;
    let copy = server.copy();
    counting.take(5).await.unwrap();
    server.load(&copy);
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &["expected mongodb"]);
    failed(counting.store.close(counting.cell(), epoch(2)).await, ErrorKind::InstanceChanged, &[]);
    counting.under = counting.store.inspect().await.unwrap().instance;
    server.load(&copy);
    failed(counting.store.close(counting.cell(), epoch(2)).await, ErrorKind::InstanceChanged, &[]);
}

/// A server before 6.0 can't compare: a close, a look and a refusal tell, a take does not; the guard has `seen` for that.
#[tokio::test]
async fn where_the_server_does_not_compare_a_close_and_a_look_tell() {
    let server = MongoDouble::start();
    server.set(Setting::ComparesUuid(false));
    let mut counting = Counting::begin(store(&server), 100).await;
    let copy = server.copy();
    for _ in 0..2 {
        server.load(&copy);
        failed(counting.store.close(counting.cell(), epoch(2)).await, ErrorKind::InstanceChanged, &[]);
        server.load(&copy);
        let now = counting.store.inspect().await.unwrap().instance;
        assert_ne!(now, counting.under);
        counting.under = now;
    }
}

#[tokio::test]
async fn an_election_is_another_instance_and_a_secondary_counts_nothing() {
    let server = MongoDouble::start();
    server.set(Setting::Role(Role::Primary));
    let mut counting = Counting::begin(store(&server), 0).await;
    counting.take(1).await.unwrap();
    server.set(Setting::Role(Role::Secondary));
    failed(counting.take(1).await, ErrorKind::Unavailable, &["10107"]);
    failed(counting.store.inspect().await, ErrorKind::Unavailable, &["not the primary"]);
    server.set(Setting::Role(Role::Primary));
    failed(counting.take(1).await, ErrorKind::InstanceChanged, &[]);
    let now = counting.store.inspect().await.unwrap().instance;
    assert_ne!(now, counting.under);
    // A look tells also where a connection stayed open.
    server.set(Setting::Role(Role::Primary));
    assert_ne!(counting.store.inspect().await.unwrap().instance, now);
    counting.under = counting.store.inspect().await.unwrap().instance;
    assert_eq!(counting.take(1).await.unwrap().first(), 2);
}

#[tokio::test]
async fn a_collection_dropped_under_a_process_is_not_made_again() {
    for collection in [CELLS, SHARD] {
        let server = MongoDouble::start();
        let counting = Counting::begin(store(&server), 0).await;
        server.drop_collection(collection);
        if collection == CELLS {
            failed(counting.take(1).await, ErrorKind::Refused, &["restore"]);
        }
        failed(counting.store.mark(&counting.under, 3).await, ErrorKind::Refused, &["restore"]);
        failed(counting.store.inspect().await, ErrorKind::Refused, &["restore"]);
        assert!(!server.collections().contains(&collection.to_owned()), "{collection} was made again");
    }
    // Another process may not make the cells anew either, where the shard's own page is there.
    let server = MongoDouble::start();
    Counting::begin(store(&server), 0).await;
    server.drop_collection(CELLS);
    failed(store(&server).inspect().await, ErrorKind::Refused, &["sequent_cells is gone"]);
}
