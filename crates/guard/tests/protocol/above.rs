//! What a server gave above where the next epoch began: told, and the next epoch begins above it.

use sequent_core::{
    Event,
    ledger::{Catalog, LedgerNote, NoteSubject},
};

use crate::harness::{Server, When, World, counter, key};

/// The highest id that `server` has given, under a raise that the ledger has lost since, as replication would that broke: no
/// version tells, and no instance of the ledger ended. The store has forgotten, too.
async fn given_under_a_lost_raise(world: &World, server: &Server, was_reported: bool) -> u64 {
    server.take_to(0, 5).await;
    server.heartbeat().await;
    let given = server.take_to(0, 40).await;
    if was_reported {
        // The ledger loses that it heard of it, too.
        server.heartbeat().await;
    }
    assert!(world.ledger.set_ceiling(&counter(0), 20) && world.ledger.set_seen(&counter(0), 5));
    assert!(world.stores[0].delete(&key()));
    given
}

/// A ledger that has lost a raise which it acknowledged, unnoticed: its row is of another epoch, which begins below what was given.
#[tokio::test(start_paused = true)]
async fn a_report_above_where_the_next_epoch_began_is_told_and_the_next_begins_above_it() {
    for was_reported in [false, true] {
        told_once_and_stepped_over(was_reported).await;
    }
}

async fn told_once_and_stepped_over(was_reported: bool) {
    let world = World::new(2).tolerant();
    let (server, other) = (world.open("server").await, world.open("other").await);
    let given = given_under_a_lost_raise(&world, &server, was_reported).await;
    // It must not find out by looking back.
    let _blind = server.wires.stores[0].hold("lift", When::Before);
    let base = other.take(0, 1).await.unwrap()[0];
    assert!(base <= given, "{base} was given twice, which nothing could prevent any more");
    server.heartbeat().await;
    if was_reported {
        // The first tells of the other epoch, the second what was given under the one before.
        server.heartbeat().await;
    }
    let told = |event: &Event| matches!(event, Event::GivenAbove { slot: 0, given: highest, .. } if *highest == given);
    assert_eq!(server.count(told), 1, "{:?}", server.events());
    assert!(world.row(0).base >= given, "{:?}", world.row(0));
    assert!(other.take(0, 1).await.unwrap()[0] > given);
    let notes = world.ledger.notes().await.unwrap();
    assert!(
        notes.contains(&LedgerNote { about: NoteSubject::GivenAbove(key()), to: given }),
        "for `doctor`: {notes:?}"
    );
    server.heartbeat().await;
    assert_eq!(server.count(told), 1, "once");
}

/// A server that goes on taking joins the next epoch, finds that it gives again what it gave itself, and begins another one, all
/// before it could report the first.
#[tokio::test(start_paused = true)]
async fn a_server_that_takes_before_it_reports_tells_it_too() {
    let world = World::new(2).tolerant();
    let (server, other) = (world.open("server").await, world.open("other").await);
    let given = given_under_a_lost_raise(&world, &server, false).await;
    let base = other.take(0, 1).await.unwrap()[0];
    assert!(base <= given, "{base} was given twice, which nothing could prevent any more");
    let next = server.take(0, 1).await.unwrap()[0];
    assert!(next > given, "{next}");
    for _ in 0..3 {
        server.heartbeat().await;
    }
    let told = |event: &Event| matches!(event, Event::GivenAbove { slot: 0, given: highest, .. } if *highest == given);
    assert_eq!(server.count(told), 1, "{:?}", server.events());
    let notes = world.ledger.notes().await.unwrap();
    assert!(
        notes.contains(&LedgerNote { about: NoteSubject::GivenAbove(key()), to: given }),
        "for `doctor`: {notes:?}"
    );
    assert!(other.take(0, 1).await.unwrap()[0] > given);
}

/// A key that nobody takes from any more. The ledger that lost the raise is another instance, as after a failover.
#[tokio::test(start_paused = true)]
async fn an_idle_server_tells_the_next_instance_of_the_ledger() {
    let world = World::new(2).tolerant();
    let (server, other) = (world.open("server").await, world.open("other").await);
    let given = given_under_a_lost_raise(&world, &server, true).await;
    world.ledger.restart();
    let _blind = server.wires.stores[0].hold("lift", When::Before);
    assert!(other.take(0, 1).await.unwrap()[0] <= given, "given twice, which nothing could prevent any more");
    told_after(3, &server, given).await;
}

/// The ledger has lost the whole row, and the next epoch begins after that was reported.
#[tokio::test(start_paused = true)]
async fn a_report_of_a_counter_without_a_row_is_compared_once_it_has_one() {
    let world = World::new(2).tolerant();
    let (server, other) = (world.open("server").await, world.open("other").await);
    let given = given_under_a_lost_raise(&world, &server, false).await;
    assert!(world.ledger.delete_row(&counter(0)));
    let _blind = server.wires.stores[0].hold("lift", When::Before);
    for _ in 0..3 {
        server.heartbeat().await;
    }
    assert_eq!(server.guard.status().unsaid, 0, "it waits for the next epoch");
    assert!(other.take(0, 1).await.unwrap()[0] <= given, "given twice, which nothing could prevent any more");
    told_after(2, &server, given).await;
}

async fn told_after(heartbeats: usize, server: &Server, given: u64) {
    for _ in 0..heartbeats {
        server.heartbeat().await;
    }
    let told = |event: &Event| matches!(event, Event::GivenAbove { slot: 0, given: highest, .. } if *highest == given);
    assert_eq!(server.count(told), 1, "{:?}", server.events());
}

/// What can't be stepped over now, with a store that is away, is told at once, and stepped over once it is back.
#[tokio::test(start_paused = true)]
async fn it_is_told_though_nothing_can_be_begun_above_it_yet() {
    let world = World::new(2).tolerant();
    let (server, other) = (world.open("server").await, world.open("other").await);
    let given = given_under_a_lost_raise(&world, &server, false).await;
    server.wires.stores[0].cut();
    other.take(0, 1).await.unwrap();
    server.heartbeat().await;
    server.heartbeat().await;
    let told = || server.count(|event| matches!(event, Event::GivenAbove { .. }));
    assert_eq!(told(), 1, "{:?}", server.events());
    assert!(world.row(0).base < given, "nothing was begun above it yet");
    server.wires.stores[0].mend();
    server.heartbeat().await;
    assert!(world.row(0).base >= given, "{:?}", world.row(0));
    assert_eq!(told(), 1, "once");
}

#[tokio::test(start_paused = true)]
async fn an_epoch_that_ended_in_order_accuses_nobody() {
    let world = World::new(2);
    let (server, other) = (world.open("server").await, world.open("other").await);
    for _ in 0..5 {
        server.take_to(0, world.highest(0) + 20).await;
        world.stores[0].empty();
        other.take(0, 3).await.unwrap();
        server.heartbeat().await;
    }
    assert_eq!(server.count(|event| matches!(event, Event::GivenAbove { .. })), 0);
}
