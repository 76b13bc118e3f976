//! Dense counters: many callers in one write, marks every ten seconds, and a ledger that went back gives none.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    ErrorKind, Event, Key, SourceError,
    ledger::{DenseAsk, DenseTaken, Loss},
    mark_of,
};
use sequent_guard::Trouble;

use crate::harness::{Kind, Server, When, World};

/// Longer than the age of a mark.
const LATER: Duration = Duration::from_millis(10_050);

async fn count(server: &Server, count: u64) -> Result<u64, SourceError> {
    let ask = DenseAsk { key: Key::from_stored("invoice"), count, limit: 1 << 40, above: 0 };
    match server.keeper.count(ask).await? {
        DenseTaken::Last(last) => Ok(last),
        other => panic!("{other:?}"),
    }
}

/// The highest mark on any store.
async fn marked(world: &World) -> u64 {
    let mut highest = 0;
    for store in &world.stores {
        highest = highest.max(mark_of(store).await.unwrap());
    }
    highest
}

#[tokio::test(start_paused = true)]
async fn callers_who_ask_at_the_same_time_are_one_write() {
    let world = World::of(Kind { yields: true, ..Kind::default() });
    let server = world.open("server").await;
    let callers: Vec<_> = (0..640)
        .map(|_| {
            let server = Arc::clone(&server);
            tokio::spawn(async move { count(&server, 1).await.unwrap() })
        })
        .collect();
    let mut numbers = Vec::new();
    for caller in callers {
        numbers.push(caller.await.unwrap());
    }
    assert_eq!(numbers, (1..=640).collect::<Vec<_>>(), "in the order in which they asked");
    let writes = server.wires.ledger.calls("count");
    assert!((1..=3).contains(&writes), "{writes} writes");
}

#[tokio::test(start_paused = true)]
async fn what_is_given_is_marked_before_it_leaves_and_every_ten_seconds() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(marked(&world).await, 0);
    count(&server, 1).await.unwrap();
    let first = world.ledger.snapshot().version();
    assert_eq!((marked(&world).await, world.home.held()), (first, first), "the first of a process");
    for _ in 0..50 {
        count(&server, 1).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(world.ledger.snapshot().version(), first, "one version for ten seconds");
    tokio::time::sleep(LATER).await;
    let second = world.ledger.snapshot().version();
    assert_eq!(
        (second, marked(&world).await),
        (first + 1, second),
        "what nobody takes after is marked in time"
    );
    tokio::time::sleep(4 * LATER).await;
    assert_eq!(world.ledger.snapshot().version(), second, "nothing was given since");
    count(&server, 1).await.unwrap();
    assert_eq!(marked(&world).await, second + 1, "given long after a mark: marked first");
    count(&server, 1).await.unwrap();
    server.stop().await;
    assert_eq!(marked(&world).await, second + 2, "a clean stop marks the last");
}

#[tokio::test(start_paused = true)]
async fn a_ledger_older_than_the_last_mark_gives_none_before_the_loss_is_named() {
    let world = World::new(2);
    let server = world.open("before").await;
    assert_eq!(count(&server, 5).await.unwrap(), 5);
    server.stop().await;
    let copy = world.ledger.snapshot();
    let server = world.open("between").await;
    assert_eq!(count(&server, 20).await.unwrap(), 25);
    server.kill();
    world.ledger.restore(copy);
    let server = world.open("after").await;
    for _ in 0..3 {
        let error = count(&server, 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
    }
    assert!(matches!(server.keeper.trouble(), Some(Trouble::Behind { .. })));
    assert_eq!(server.count(|event| matches!(event, Event::LedgerBehind { .. })), 1);
    world.recover(Loss::Bump(100)).await;
    server.shows_up().await;
    assert_eq!(count(&server, 1).await.unwrap(), 106);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_goes_back_under_a_running_server_gives_none() {
    let world = World::new(2);
    let server = world.open("server").await;
    count(&server, 5).await.unwrap();
    let copy = world.ledger.snapshot();
    tokio::time::sleep(LATER).await;
    count(&server, 5).await.unwrap();
    world.ledger.restore_in_place(copy);
    let error = count(&server, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_was_restarted_costs_no_failure_and_no_gap() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(count(&server, 5).await.unwrap(), 5);
    world.ledger.restart();
    assert_eq!(count(&server, 1).await.unwrap(), 6);
    assert_eq!(marked(&world).await, world.ledger.snapshot().version(), "another run is marked anew");
}

#[tokio::test(start_paused = true)]
async fn without_the_ledger_nobody_waits_and_nothing_is_given() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(count(&server, 5).await.unwrap(), 5);
    server.wires.ledger.cut();
    for _ in 0..3 {
        assert_eq!(count(&server, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
    }
    server.wires.ledger.mend();
    server.shows_up().await;
    assert_eq!(count(&server, 1).await.unwrap(), 6);
    server.stop().await;
    assert_eq!(count(&server, 1).await.unwrap_err().kind(), ErrorKind::NoWitness, "it is closed");
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_before_the_write_leaves_no_gap() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(count(&server, 1).await.unwrap(), 1);
    let gate = server.wires.ledger.hold("count", When::Before);
    let first = tokio::spawn({
        let server = Arc::clone(&server);
        async move { count(&server, 1).await }
    });
    gate.reached().await;
    let left = tokio::spawn({
        let server = Arc::clone(&server);
        async move { count(&server, 10).await }
    });
    tokio::task::yield_now().await;
    left.abort();
    assert!(left.await.unwrap_err().is_cancelled());
    gate.open();
    assert_eq!(first.await.unwrap().unwrap(), 2);
    assert_eq!(count(&server, 1).await.unwrap(), 3);
}
