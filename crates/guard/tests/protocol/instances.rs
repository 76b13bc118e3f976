//! The run on record: one that is not gives nothing dense, and where another one is by now, a server stops.

use std::{sync::Arc, time::Duration};

use sequent_core::{ErrorKind, Event, InstanceId, Store, ledger::Identity};
use sequent_guard::LedgerFault;

use crate::{
    dense::count,
    harness::{Server, Setup, When, World},
};

/// What another server has put on record, as it comes by replication.
async fn replicates(world: &World, run: &InstanceId) {
    world.ledger.record(&world.ledger.instance(), None, run).await.unwrap();
}

fn given(world: &World) -> u64 {
    world.ledger.snapshot().dense(Some("invoice"), 1)[0].value
}

fn is_superseded(server: &Server) -> bool {
    matches!(server.guard.trouble(), Some(LedgerFault::Superseded { .. }))
}

/// Two servers that count and take, and then another run on record.
async fn superseded() -> (World, Arc<Server>, InstanceId) {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(count(&server, 3).await.unwrap(), 3);
    server.take(0, 1).await.unwrap();
    let own = world.ledger.instance();
    replicates(&world, &InstanceId::new("run 2, on another master")).await;
    (world, server, own)
}

#[tokio::test(start_paused = true)]
async fn another_run_on_record_stops_a_server_and_nothing_is_given() {
    let (world, server, _) = superseded().await;
    let row = world.row(0);
    for _ in 0..3 {
        let error = count(&server, 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
        assert!(error.to_string().contains("found run 2, on another master on record"), "{error}");
    }
    assert!(is_superseded(&server));
    assert!(server.take(1, 1).await.is_err(), "no epoch is opened");
    server.heartbeat().await;
    assert_eq!((given(&world), world.row(0)), (3, row), "nothing was written");
    let is_told = |event: &Event| matches!(event, Event::LedgerLost { refused: true, detail, .. } if detail.contains("several writable masters"));
    assert_eq!(server.count(is_told), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_notices_at_its_next_heartbeat() {
    let (_, server, _) = superseded().await;
    server.heartbeat().await;
    assert!(is_superseded(&server));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_stopped_goes_on_with_the_run_on_record() {
    let (world, server, own) = superseded().await;
    assert!(count(&server, 1).await.is_err());
    replicates(&world, &own).await;
    server.heartbeat().await;
    assert_eq!(
        (server.guard.trouble(), count(&server, 1).await.unwrap()),
        (None, 4),
        "it is on record again"
    );
    replicates(&world, &InstanceId::new("run 3")).await;
    assert!(count(&server, 1).await.is_err());
    // Its connection leads to the next run of the ledger, which it puts on record.
    world.ledger.restart();
    server.heartbeat().await;
    assert_eq!((server.guard.trouble(), count(&server, 1).await.unwrap()), (None, 5));
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_takes_writes_from_another_master_is_refused_at_the_start_and_within_ten_seconds() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(count(&server, 1).await.unwrap(), 1);
    world.ledger.has_another_master(Some("Slaves_running is 1, and read_only is OFF"));
    let error = world.try_open("late", Setup::default()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    tokio::time::sleep(Duration::from_secs(13)).await;
    let error = count(&server, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
    assert!(error.to_string().contains("Slaves_running is 1"), "{error}");
    assert!(server.take(0, 1).await.is_err(), "no epoch is opened");
    world.ledger.has_another_master(None);
    tokio::time::sleep(Duration::from_secs(13)).await;
    assert_eq!((server.guard.trouble(), count(&server, 1).await.unwrap()), (None, 2), "it was mended");
}

/// A promoted replica lacks what was given, and still follows its master for a while.
#[tokio::test(start_paused = true)]
async fn what_another_master_hides_is_there_once_it_is_gone() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(count(&server, 5).await.unwrap(), 5);
    let copy = world.ledger.snapshot();
    assert_eq!(count(&server, 5).await.unwrap(), 10);
    world.ledger.restore(copy);
    world.ledger.has_another_master(Some("Slaves_running is 1, and read_only is OFF"));
    server.heartbeat().await;
    world.ledger.has_another_master(None);
    tokio::time::sleep(Duration::from_secs(13)).await;
    let error = count(&server, 1).await.unwrap_err();
    assert!(matches!(server.guard.trouble(), Some(LedgerFault::Behind { .. })), "{error}");
}

#[tokio::test(start_paused = true)]
async fn another_trouble_is_not_over_with_that_of_another_master() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(count(&server, 5).await.unwrap(), 5);
    // A store comes back that bears a mark of later than this ledger is.
    let (store, version) = (&world.stores[1], world.ledger.snapshot().version());
    store.mark(&store.instance(), version + 100).await.unwrap();
    store.restart();
    server.take(1, 1).await.unwrap_err();
    let is_behind = || matches!(server.guard.trouble(), Some(LedgerFault::Behind { .. }));
    assert!(is_behind());
    for found in [Some("Slaves_running is 1, and read_only is OFF"), None] {
        world.ledger.has_another_master(found);
        tokio::time::sleep(Duration::from_secs(13)).await;
        assert!(is_behind(), "{found:?}: {:?}", server.guard.trouble());
    }
}

#[tokio::test(start_paused = true)]
async fn below_its_ceilings_a_server_gives_nothing_either_once_another_run_is_on_record() {
    let world = World::new(2);
    let server = world.open("server").await;
    for _ in 0..5 {
        server.take(0, 5).await.unwrap();
    }
    replicates(&world, &InstanceId::new("run 2, on another master")).await;
    server.heartbeat().await;
    assert!(is_superseded(&server) && world.row(0).ceiling > world.highest(0));
    let error = server.take(0, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_block_on_its_way_does_not_leave_either() {
    let world = World::new(2);
    let server = world.open("server").await;
    for _ in 0..5 {
        server.take(0, 5).await.unwrap();
    }
    let gate = server.wires.stores[0].hold("take", When::After);
    let taking = Arc::clone(&server);
    let taking = tokio::spawn(async move { taking.take(0, 1).await.map_err(|error| error.kind()) });
    gate.reached().await;
    replicates(&world, &InstanceId::new("run 2, on another master")).await;
    server.heartbeat().await;
    assert!(is_superseded(&server));
    gate.open();
    assert_eq!(taking.await.unwrap().unwrap_err(), ErrorKind::LedgerBehind);
}

#[tokio::test(start_paused = true)]
async fn another_master_stops_a_ledger_that_is_behind_too() {
    let world = World::new(2);
    let server = world.open("server").await;
    for _ in 0..5 {
        server.take(0, 5).await.unwrap();
    }
    let (store, version) = (&world.stores[1], world.ledger.snapshot().version());
    store.mark(&store.instance(), version + 100).await.unwrap();
    store.restart();
    server.take(1, 1).await.unwrap_err();
    assert!(matches!(server.guard.trouble(), Some(LedgerFault::Behind { .. })));
    server.take(0, 1).await.unwrap();
    world.ledger.has_another_master(Some("Slaves_running is 1, and read_only is OFF"));
    tokio::time::sleep(Duration::from_secs(13)).await;
    assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_could_not_be_put_on_record_gives_nothing_dense_before_it_is() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(count(&server, 1).await.unwrap(), 1);
    server.take(0, 1).await.unwrap();
    world.ledger.restart();
    server.wires.ledger.busy_for("record", usize::MAX);
    server.heartbeat().await;
    for _ in 0..3 {
        assert_eq!(count(&server, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
        server.heartbeat().await;
    }
    assert_eq!(given(&world), 1);
    assert!(server.take(0, 1).await.is_ok(), "others are safe by their ceilings and marks");
    server.wires.ledger.busy_for("record", 0);
    server.heartbeat().await;
    assert_eq!(count(&server, 1).await.unwrap(), 2);
}
