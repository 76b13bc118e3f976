//! Dense counters: many callers in one write, each of which a store witnesses, and a ledger that went back gives none.

use std::{sync::Arc, time::Duration};

use sequent_backend::memory::MemoryStore;
use sequent_core::{
    Clock, DurabilityClass, ErrorKind, Event, Key, SourceError,
    ledger::{DenseAsk, DenseTaken, Loss},
    mark_of,
};
use sequent_guard::{GuardConfig, LedgerFault};

use crate::harness::{Kind, Server, Setup, When, World};

/// Longer than what is known of a ledger's settings is good for.
const NOTICED: Duration = Duration::from_millis(10_050);

pub(crate) async fn count(server: &Server, count: u64) -> Result<u64, SourceError> {
    count_of(server, "invoice", count).await
}

async fn count_of(server: &Server, key: &str, count: u64) -> Result<u64, SourceError> {
    let ask = DenseAsk { key: Key::from_stored(key), count, limit: 1 << 40, above: 0 };
    match server.guard.count(ask).await? {
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
async fn each_write_is_marked_before_its_numbers_leave() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(marked(&world).await, 0);
    for _ in 0..5 {
        let before = world.ledger.snapshot().version();
        count(&server, 1).await.unwrap();
        let version = world.ledger.snapshot().version();
        assert_eq!((version, marked(&world).await), (before + 1, version));
    }
    let gates: Vec<_> = server.wires.stores.iter().map(|wire| wire.hold("mark", When::Before)).collect();
    let caller = tokio::spawn({
        let server = Arc::clone(&server);
        async move { count(&server, 1).await }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let version = world.ledger.snapshot().version();
    assert_eq!((marked(&world).await, caller.is_finished()), (version - 1, false), "counted, and not given");
    gates.iter().for_each(crate::harness::Gate::open);
    assert_eq!(caller.await.unwrap().unwrap(), 6);
    assert_eq!(marked(&world).await, version);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(world.ledger.snapshot().version(), version, "nothing was given since");
}

#[tokio::test(start_paused = true)]
async fn the_data_directory_takes_the_mark_with_the_next_heartbeat_and_at_a_clean_stop() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.heartbeat().await;
    let (before, version) = (world.home.held(), || world.ledger.snapshot().version());
    count(&server, 1).await.unwrap();
    assert_eq!((world.home.held(), marked(&world).await), (before, version()), "a store's mark is enough");
    server.heartbeat().await;
    assert_eq!(world.home.held(), version());
    world.home.breaks(true);
    count(&server, 1).await.unwrap();
    server.heartbeat().await;
    server.heartbeat().await;
    let told = server.count(|event| matches!(event, Event::Unmarked { elsewhere: true, home: false, .. }));
    assert_eq!(told, 1, "once");
    world.home.breaks(false);
    count(&server, 1).await.unwrap();
    server.stop().await;
    assert_eq!(world.home.held(), version());
}

/// The one shard may be on the ledger's own server.
#[tokio::test(start_paused = true)]
async fn in_a_ring_of_one_shard_the_data_directory_takes_the_mark_before_the_numbers_leave() {
    let world = World::new(1);
    let server = world.open("server").await;
    count(&server, 1).await.unwrap();
    assert_eq!(world.home.held(), world.ledger.snapshot().version());
}

#[tokio::test(start_paused = true)]
async fn numbers_whose_mark_no_store_takes_are_given_to_nobody_and_use_up_no_more() {
    let world = World::new(2);
    let server = world.open("server").await;
    assert_eq!(count(&server, 1).await.unwrap(), 1);
    server.wires.stores.iter().for_each(|wire| wire.cut());
    for _ in 0..4 {
        let error = count(&server, 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoWitness, "{error}");
        assert!(error.to_string().contains("no store took the mark"), "{error}");
    }
    assert_eq!(world.ledger.snapshot().dense(Some("invoice"), 1)[0].value, 2, "the first alone is a gap");
    assert!(server.count(|event| matches!(event, Event::Unmarked { elsewhere: false, .. })) > 0);
    server.wires.stores[1].mend();
    server.heartbeat().await;
    assert_eq!(count(&server, 1).await.unwrap(), 3, "one store suffices");
}

/// Nothing but dense numbers is asked for: no take finds out that a store is another run.
#[tokio::test(start_paused = true)]
async fn stores_that_were_restarted_are_witnesses_again_though_nobody_takes_from_them() {
    for comes_back in [MemoryStore::restart, MemoryStore::empty] {
        let world = World::new(2);
        let server = world.open("server").await;
        assert_eq!(count(&server, 1).await.unwrap(), 1);
        for round in 1..=3 {
            world.stores.iter().for_each(comes_back);
            // The write during which that is found out may be a gap.
            drop(count(&server, 1).await);
            let given = count(&server, 1).await.unwrap();
            assert!(given <= 1 + 2 * round, "{given}");
            server.heartbeat().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_only_store_of_a_ring_is_a_witness() {
    let world = World::new(1);
    let server = world.open("server").await;
    assert_eq!(count(&server, 1).await.unwrap(), 1);
    assert_eq!(marked(&world).await, world.ledger.snapshot().version());
    server.wires.stores[0].cut();
    assert_eq!(count(&server, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
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
    assert!(matches!(server.guard.trouble(), Some(LedgerFault::Behind { .. })));
    assert_eq!(server.count(|event| matches!(event, Event::LedgerBehind { .. })), 1);
    world.recover(Loss::Bump(100)).await;
    server.heartbeat().await;
    assert_eq!(count(&server, 1).await.unwrap(), 106);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_goes_back_under_a_running_server_gives_none() {
    let world = World::new(2);
    let server = world.open("server").await;
    count(&server, 5).await.unwrap();
    let copy = world.ledger.snapshot();
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
    server.heartbeat().await;
    assert_eq!(count(&server, 1).await.unwrap(), 6);
    server.stop().await;
    assert_eq!(count(&server, 1).await.unwrap_err().kind(), ErrorKind::NoWitness, "it is closed");
}

#[tokio::test(start_paused = true)]
async fn one_call_that_failed_is_over_in_a_moment_and_many_are_not_retried_without_a_bound() {
    let world = World::new(2);
    let server = world.open("server").await;
    count(&server, 1).await.unwrap();
    for _ in 0..10 {
        // At whatever moment between two heartbeats.
        tokio::time::sleep(Duration::from_millis(770)).await;
        server.wires.ledger.busy_for("count", 1);
        assert_eq!(count(&server, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
        tokio::time::sleep(Duration::from_millis(260)).await;
        count(&server, 1).await.unwrap();
    }
    let before = server.wires.ledger.calls("heartbeat");
    server.wires.ledger.busy_for("count", usize::MAX);
    for _ in 0..1000 {
        assert_eq!(count(&server, 1).await.unwrap_err().kind(), ErrorKind::NoWitness);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let calls = server.wires.ledger.calls("heartbeat") - before;
    assert!((20..=41).contains(&calls), "{calls} heartbeats in ten seconds");
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

/// That it gives none before a person has acted.
async fn refuses(server: &Server) {
    for _ in 0..2 {
        let error = count(server, 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
    }
}

fn behinds(server: &Server) -> usize {
    server.count(|event| matches!(event, Event::DenseBehind { .. }))
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_lost_what_no_mark_at_hand_tells_is_found_by_whoever_gave_it_and_stops_everybody() {
    let world = World::new(2);
    let elsewhere = Setup { home: false, ..Setup::default() };
    let (server, other) = (world.open("server").await, world.open_as("other", elsewhere).await);
    assert_eq!(count(&other, 2).await.unwrap(), 2);
    assert_eq!(count(&server, 1).await.unwrap(), 3);
    let copy = world.ledger.snapshot();
    other.heartbeat().await;
    assert_eq!(count(&server, 5).await.unwrap(), 8);
    // The mark of these lies where the other one does not reach.
    other.wires.stores.iter().for_each(|wire| wire.cut());
    world.ledger.restore(copy);
    refuses(&other).await;
    assert!(
        matches!(other.guard.trouble(), Some(LedgerFault::Accused { .. })),
        "{:?}",
        other.guard.trouble()
    );
    let is_told = |event: &Event| matches!(event, Event::LedgerBehind { detail } if detail.contains("it lacks what this server"));
    assert_eq!(
        (other.count(is_told), other.count(|event| matches!(event, Event::LedgerBehind { .. }))),
        (1, 1)
    );
    other.wires.stores.iter().for_each(|wire| wire.mend());
    let late = world.open("late").await;
    refuses(&server).await;
    refuses(&late).await;
    assert!(server.take(0, 1).await.is_err(), "nothing rests on a ledger that went back");
    world.recover(Loss::Bump(5)).await;
    for (server, expected) in [(&server, 9), (&other, 10), (&late, 11)] {
        server.heartbeat().await;
        assert_eq!(count(server, 1).await.unwrap(), expected);
    }
    assert_eq!(server.guard.status().dense_behind, []);
}

/// Two servers, a copy, and numbers that the first has given since.
async fn set_back() -> (World, Arc<Server>, Arc<Server>) {
    let world = World::new(2);
    let (server, other) = (world.open("server").await, world.open("other").await);
    assert_eq!(count(&other, 2).await.unwrap(), 2);
    assert_eq!(count(&server, 1).await.unwrap(), 3);
    let copy = world.ledger.snapshot();
    assert_eq!(count(&server, 5).await.unwrap(), 8);
    world.ledger.restore(copy);
    (world, server, other)
}

#[tokio::test(start_paused = true)]
async fn another_server_than_the_one_that_gave_is_asked_first_and_repeats_nothing() {
    let (world, server, other) = set_back().await;
    refuses(&other).await;
    assert_eq!(other.count(|event| matches!(event, Event::LedgerBehind { .. })), 1);
    refuses(&server).await;
    world.recover(Loss::Bump(5)).await;
    for (server, expected) in [(&other, 9), (&server, 10)] {
        server.heartbeat().await;
        assert_eq!(count(server, 1).await.unwrap(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_opened_before_the_one_that_gave_was_asked_repeats_nothing() {
    let (world, server, other) = set_back().await;
    let late = world.open("late").await;
    refuses(&late).await;
    // The next finds the mark.
    refuses(&*world.open("later").await).await;
    refuses(&other).await;
    refuses(&server).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_has_called_since_the_copy_tells_though_whoever_gave_them_is_gone() {
    let world = World::new(2);
    let (server, other) = (world.open("server").await, world.open("other").await);
    assert_eq!(count(&server, 3).await.unwrap(), 3);
    let copy = world.ledger.snapshot();
    other.heartbeat().await;
    assert_eq!(count(&server, 5).await.unwrap(), 8);
    server.kill();
    world.ledger.restore(copy);
    refuses(&other).await;
    refuses(&*world.open("late").await).await;
    assert!(other.take(0, 1).await.is_err(), "nothing rests on a ledger that went back");
}

#[tokio::test(start_paused = true)]
async fn a_restart_of_the_ledger_costs_dense_numbers_no_pause() {
    let world = World::new(2);
    let (server, other) = (world.open("server").await, world.open("other").await);
    assert_eq!(count(&server, 5).await.unwrap(), 5);
    let before = world.clock.now();
    for (round, expected) in [(0, 6), (1, 9)] {
        world.ledger.restart();
        let late = world.open("late").await;
        for (server, more) in [(&late, 0), (&other, 1), (&server, 2)] {
            assert_eq!(count(server, 1).await.unwrap(), expected + more, "{round}");
            assert_eq!(server.guard.trouble(), None);
        }
        late.kill();
    }
    world.ledger.restart();
    assert_eq!(count(&server, 1).await.unwrap(), 12);
    let waited = world.clock.now() - before;
    assert!(waited < Duration::from_millis(500), "{waited:?}");
}

/// More calls of unknown outcome than nonces are kept of: the one that lies in the ledger may be among those forgotten.
#[tokio::test(start_paused = true)]
async fn answers_that_were_lost_make_nobody_accuse_a_ledger_that_has_everything() {
    for restarts in [true, false] {
        let world = World::new(2);
        let server = world.open("server").await;
        assert_eq!(count(&server, 1).await.unwrap(), 1);
        let wire = &server.wires.ledger;
        let before = wire.calls("heartbeat");
        let called = async |often: usize| {
            while wire.calls("heartbeat") < before + often {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let _gates: Vec<_> = (0..30).map(|_| wire.hold("heartbeat", When::After)).collect();
        called(11).await;
        wire.cut();
        called(30).await;
        wire.mend();
        if restarts {
            world.ledger.restart();
        }
        server.heartbeat().await;
        assert_eq!(server.guard.trouble(), None, "restarted: {restarts}");
        let mark = server.take(0, 1).await;
        assert!(mark.is_ok(), "{mark:?}");
        assert!(count(&server, 1).await.unwrap() > 1);
    }
}

#[tokio::test(start_paused = true)]
async fn where_nobody_counts_a_restart_costs_nothing() {
    let world = World::new(2);
    let server = world.open("server").await;
    world.ledger.restart();
    let before = world.clock.now();
    let late = world.open("late").await;
    assert!(late.take(0, 1).await.is_ok() && server.take(0, 1).await.is_ok());
    assert!(world.clock.now() - before < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_away_until_the_loss_was_named_goes_on() {
    let world = World::new(2);
    let (server, other) = (world.open("server").await, world.open("other").await);
    assert_eq!(count(&server, 3).await.unwrap(), 3);
    let copy = world.ledger.snapshot();
    // So that what it wrote last is not in the copy, either.
    other.heartbeat().await;
    assert_eq!(count(&server, 5).await.unwrap(), 8);
    other.wires.ledger.cut();
    world.ledger.restore(copy);
    refuses(&server).await;
    world.recover(Loss::Bump(5)).await;
    server.heartbeat().await;
    assert_eq!(count(&server, 1).await.unwrap(), 9);
    other.wires.ledger.mend();
    other.heartbeat().await;
    assert_eq!(count(&other, 1).await.unwrap(), 10);
    assert_eq!((other.guard.trouble(), server.guard.trouble()), (None, None));
}

#[tokio::test(start_paused = true)]
async fn a_loss_that_was_named_too_small_is_found_again() {
    let world = World::new(2);
    let server = world.open("server").await;
    count(&server, 1).await.unwrap();
    let copy = world.ledger.snapshot();
    assert_eq!(count(&server, 20).await.unwrap(), 21);
    world.ledger.restore(copy);
    refuses(&server).await;
    world.recover(Loss::Bump(7)).await;
    server.heartbeat().await;
    refuses(&server).await;
    assert_eq!(server.guard.status().dense_behind, [(Key::from_stored("invoice"), 21, 8)]);
    world.recover(Loss::Bump(13)).await;
    server.heartbeat().await;
    assert_eq!(count(&server, 1).await.unwrap(), 22);
}

#[tokio::test(start_paused = true)]
async fn a_row_that_a_hand_set_back_stops_alone_and_uses_up_nothing() {
    let world = World::new(2);
    let (server, invoice) = (world.open("server").await, Key::from_stored("invoice"));
    assert_eq!(count(&server, 9).await.unwrap(), 9);
    assert_eq!(count_of(&server, "order", 4).await.unwrap(), 4);
    assert!(world.ledger.set_dense(&invoice, 5));
    refuses(&server).await;
    assert_eq!((behinds(&server), server.guard.trouble()), (1, None));
    assert_eq!(server.guard.status().dense_behind, [(invoice.clone(), 9, 5)]);
    assert_eq!(count_of(&server, "order", 1).await.unwrap(), 5, "another counter goes on");
    assert!(server.take(0, 1).await.is_ok());
    assert_eq!(
        world.ledger.snapshot().dense(Some("invoice"), 1)[0].value,
        5,
        "what is refused uses up nothing"
    );
    assert!(world.ledger.set_dense(&invoice, 9));
    assert_eq!(count(&server, 1).await.unwrap(), 10);
    assert_eq!(server.guard.status().dense_behind, []);
}

/// A world whose ledger may lose what it acknowledged.
fn lossy() -> World {
    World::of(Kind { ledger: DurabilityClass::Lossy, ..Kind::default() })
}

fn allowed() -> Setup {
    Setup { config: GuardConfig { lossy_dense: true, ..GuardConfig::default() }, ..Setup::default() }
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_may_lose_what_it_acknowledged_counts_only_where_that_is_allowed() {
    let world = lossy();
    let server = world.open("server").await;
    refuses(&server).await;
    let error = count(&server, 1).await.unwrap_err().to_string();
    assert!(error.contains("the ledger is lossy") && error.contains("ledger.allow_lossy = true"), "{error}");
    assert_eq!(server.wires.ledger.calls("count"), 0);
    assert!(server.take(0, 1).await.is_ok(), "others are safe by their ceilings and marks");
    let server = world.open_as("allowed", allowed()).await;
    assert_eq!(count(&server, 1).await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_may_lose_what_it_acknowledged_has_each_write_marked() {
    let world = lossy();
    let (server, other) = (world.open_as("server", allowed()).await, world.open_as("other", allowed()).await);
    for expected in 1..=5 {
        assert_eq!(count(&server, 1).await.unwrap(), expected);
        assert_eq!(marked(&world).await, world.ledger.snapshot().version());
    }
    let copy = world.ledger.snapshot();
    assert_eq!(count(&server, 1).await.unwrap(), 6);
    server.kill();
    world.ledger.restore(copy);
    // Neither has given what was lost.
    refuses(&other).await;
    refuses(&*world.open_as("late", allowed()).await).await;
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_was_restarted_with_other_settings_is_taken_for_what_it_is_now() {
    let world = World::new(2);
    let (server, allows) = (world.open("server").await, world.open_as("allows", allowed()).await);
    assert_eq!(count(&server, 1).await.unwrap(), 1);
    assert_eq!(count(&allows, 1).await.unwrap(), 2);
    world.ledger.pose_as(DurabilityClass::Lossy);
    world.ledger.restart();
    refuses(&server).await;
    assert_eq!((server.guard.trouble(), server.guard.may_count().await.is_err()), (None, true));
    assert!(server.take(0, 1).await.is_ok(), "others are safe by their ceilings and marks");
    for expected in 3..=5 {
        let version = world.ledger.snapshot().version();
        assert_eq!(count(&allows, 1).await.unwrap(), expected);
        let marked = marked(&world).await;
        assert!(marked > version && marked == world.ledger.snapshot().version(), "each write is marked");
    }
    world.ledger.pose_as(DurabilityClass::Durable);
    world.ledger.restart();
    server.heartbeat().await;
    assert!(server.guard.may_count().await.is_ok(), "a definition is accepted again, too");
    assert_eq!(count(&server, 1).await.unwrap(), 6);
}

#[tokio::test(start_paused = true)]
async fn settings_that_change_while_the_ledger_runs_are_noticed_within_ten_seconds() {
    let world = World::new(2);
    let (server, allows) = (world.open("server").await, world.open_as("allows", allowed()).await);
    assert_eq!(count(&server, 1).await.unwrap(), 1);
    assert_eq!(count(&allows, 1).await.unwrap(), 2);
    world.ledger.pose_as(DurabilityClass::Lossy);
    tokio::time::sleep(NOTICED).await;
    refuses(&server).await;
    for expected in 3..=4 {
        let version = world.ledger.snapshot().version();
        assert_eq!(count(&allows, 1).await.unwrap(), expected);
        assert!(marked(&world).await > version, "each write is marked");
    }
    server.wires.ledger.cut();
    world.ledger.pose_as(DurabilityClass::Durable);
    tokio::time::sleep(NOTICED).await;
    assert!(server.guard.may_count().await.is_err(), "it can't be asked");
    server.wires.ledger.mend();
    server.heartbeat().await;
    assert!(server.guard.may_count().await.is_ok(), "it was mended: nothing has to be restarted");
    assert_eq!(count(&server, 1).await.unwrap(), 5);
}
