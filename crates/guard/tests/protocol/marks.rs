//! Marks: where they are left, and whose count.

use std::time::Duration;

use sequent_core::{Clock, ErrorKind, Event, Key, ledger::Loss, mark_of};
use sequent_guard::LedgerFault;

use crate::harness::{Kind, MemoryStore, Server, Setup, World};

fn marked(server: &Server, slot: usize) -> usize {
    server.wires.stores[slot].calls("mark")
}

/// The versions of a new counter: it is claimed, which is not marked, and opened, which is.
const VERSIONS: u64 = 2;

/// Opens new counters in a slot, one after the other.
async fn open(server: &Server, slot: u16, counters: usize) {
    let begin = server.wires.ledger.calls("open");
    for number in begin..begin + counters {
        server.take_of(&Key::from_stored(&format!("key{number}")), slot, 1).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn every_shard_comes_to_bear_recent_marks() {
    let world = World::new(4);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    open(&server, 0, 12).await;
    let version = world.ledger.snapshot().version();
    assert_eq!(marked(&server, 0), 1, "its own slot is no bearer: it was read once, at the opening");
    for slot in 1..4 {
        let held = mark_of(&world.stores[slot]).await.unwrap();
        assert!(version - held < 4 * VERSIONS, "slot {slot} bears {held} of {version}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dead_shard_is_not_tried_for_every_mark() {
    let world = World::new(4);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.wires.stores[2].cut();
    let before = marked(&server, 2);
    open(&server, 0, 20).await;
    assert!(marked(&server, 2) <= before + 1, "{} times", marked(&server, 2) - before);
    assert_eq!(server.count(|event| matches!(event, Event::Unmarked { .. })), 0);
    server.wires.stores[2].mend();
    open(&server, 0, 60).await;
    assert!(marked(&server, 2) > before + 5, "it bears marks again");
}

#[tokio::test(start_paused = true)]
async fn shards_that_hang_are_not_waited_for_at_every_mark() {
    let world = World::new(4);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let before = [2, 3].map(|slot| marked(&server, slot));
    for slot in [2, 3] {
        server.wires.stores[slot].hang();
    }
    let begun = world.clock.now();
    open(&server, 0, 20).await;
    let took = world.clock.now() - begun;
    assert!(took <= Duration::from_millis(450), "each cost its patience once: {took:?}");
    for (slot, before) in [2, 3].into_iter().zip(before) {
        assert!(marked(&server, slot) <= before + 1, "{} times", marked(&server, slot) - before);
        server.wires.stores[slot].mend();
    }
    assert_eq!(server.count(|event| matches!(event, Event::Unmarked { .. })), 0);
    open(&server, 0, 60).await;
    assert!(marked(&server, 2) > before[0] + 5, "it bears marks again");
}

#[tokio::test(start_paused = true)]
async fn where_all_others_hang_marks_cost_less_than_an_attempt_and_then_next_to_nothing() {
    let world = World::new(4);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    for slot in 1..4 {
        server.wires.stores[slot].hang();
    }
    let mut costs = Vec::new();
    for _ in 0..4 {
        let begun = world.clock.now();
        open(&server, 0, 1).await;
        costs.push((world.clock.now() - begun).as_millis());
    }
    assert_eq!(costs, [600, 200, 200, 200]);
    let told = server.count(|event| matches!(event, Event::Unmarked { elsewhere: false, home: true, .. }));
    assert_eq!(told, 1);
    for slot in 1..4 {
        server.wires.stores[slot].mend();
    }
    open(&server, 0, 1).await;
    let version = world.ledger.snapshot().version();
    let mut marks = Vec::new();
    for store in &world.stores[1..] {
        marks.push(mark_of(store).await.unwrap());
    }
    assert!(marks.contains(&version), "{marks:?} of {version}");
}

#[tokio::test(start_paused = true)]
async fn the_marks_of_somebody_elses_store_accuse_nobody() {
    let other = World::of(Kind { seed: 2, ..Kind::default() });
    let elsewhere = other.open("elsewhere").await;
    elsewhere.take_to(1, 5).await;
    open(&elsewhere, 1, 50).await;
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.take_to(1, 5).await;
    world.stores[0].restore(other.stores[0].snapshot());
    assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::Refused);
    world.ledger.restart();
    server.heartbeat().await;
    assert_eq!(server.guard.trouble(), None);
    server.take(1, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_version_of_a_lost_history_does_not_stand_in_for_a_new_one() {
    let world = World::new(2);
    let server = world.open_as("server", Setup { home: false, ..Setup::default() }).await;
    server.take_to(0, 5).await;
    let copy = world.ledger.snapshot();
    open(&server, 0, 9).await;
    // The ledger goes back, and so does the only bearer of its marks: this server alone can tell.
    world.stores[1].empty();
    world.ledger.restore(copy);
    server.heartbeat().await;
    assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
    world.recover(Loss::Bump(100)).await;
    server.heartbeat().await;
    // A bearer again, once it has been admitted.
    server.take(1, 1).await.unwrap();
    server.take_of(&Key::from_stored("new"), 0, 1).await.unwrap();
    assert_eq!(mark_of(&world.stores[1]).await.unwrap(), world.ledger.snapshot().version());
}

#[tokio::test(start_paused = true)]
async fn a_mark_that_only_the_data_directory_bears_is_read() {
    let world = World::new(1);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let copies = (world.ledger.snapshot(), world.stores[0].snapshot());
    server.take_to(0, world.row(0).ceiling + 1).await;
    server.stop().await;
    world.ledger.restore(copies.0);
    world.stores[0].restore(copies.1);
    let next = world.open("next").await;
    assert!(matches!(next.guard.trouble(), Some(LedgerFault::Behind { .. })), "{:?}", next.guard.trouble());
}

/// A copy of the ledger and of one store, made after a clean stop; then a run that takes within its ceiling and raises
/// nothing, stopped well or killed after a heartbeat; then the copy put over both. What the next server that opens says.
async fn set_back_to_before_a_run_that_only_reported(
    slots: u16,
    setup: Setup,
    stopped: bool,
) -> Option<LedgerFault> {
    let world = World::new(slots);
    let first = world.open_as("first", setup).await;
    first.take_to(0, 500).await;
    first.heartbeat().await;
    first.stop().await;
    let (row, copies) = (world.row(0), (world.ledger.snapshot(), world.stores[0].snapshot()));
    assert!(row.ceiling > row.seen + 50, "there is room below the ceiling: {row:?}");
    let second = world.open_as("second", setup).await;
    second.take(0, 20).await.unwrap();
    if stopped {
        second.stop().await;
    } else {
        second.heartbeat().await;
        second.kill();
    }
    let now = world.row(0);
    assert_eq!((now.epoch, now.ceiling), (row.epoch, row.ceiling), "it was to raise nothing");
    assert!(now.seen >= row.seen + 20, "{now:?}");
    world.ledger.restore_in_place(copies.0);
    world.stores[0].restore_in_place(copies.1);
    let next = world.open_as("next", setup).await;
    let given = next.take(0, 20).await;
    assert!(given.is_err(), "{given:?} were given before");
    next.guard.trouble()
}

#[tokio::test(start_paused = true)]
async fn a_run_that_raised_nothing_is_marked_by_what_it_reported() {
    let without = Setup { home: false, ..Setup::default() };
    for stopped in [true, false] {
        // At home alone, since one shard bears no mark of its own; and on the other shard alone.
        for (slots, setup) in [(1, Setup::default()), (2, without)] {
            let trouble = set_back_to_before_a_run_that_only_reported(slots, setup, stopped).await;
            assert!(
                matches!(trouble, Some(LedgerFault::Behind { .. })),
                "{slots} slots, {stopped}: {trouble:?}"
            );
        }
    }
}

/// The ledger and all shards but the last are put back to a copy after `deed`: what a server that opens then finds.
async fn set_back_with_all_shards_but_one(deed: impl AsyncFn(&Server), stopped: bool) -> Option<LedgerFault> {
    let (world, without) = (World::new(4), Setup { home: false, ..Setup::default() });
    let first = world.open_as("first", without).await;
    first.take_to(0, 50).await;
    first.stop().await;
    let copies: Vec<_> = world.stores.iter().map(MemoryStore::snapshot).collect();
    let ledger = world.ledger.snapshot();
    let second = world.open_as("second", without).await;
    deed(&second).await;
    if stopped {
        second.stop().await;
    } else {
        second.heartbeat().await;
        second.kill();
    }
    world.ledger.restore(ledger);
    for (store, copy) in world.stores.iter().zip(copies).take(3) {
        store.restore(copy);
    }
    world.open_as("next", without).await.guard.trouble()
}

#[tokio::test(start_paused = true)]
async fn after_a_heartbeat_every_shard_bears_the_mark_wherever_it_was_left_first() {
    for counters in 1..5 {
        for stopped in [true, false] {
            let opens = async |server: &Server| open(server, 0, counters).await;
            let trouble = set_back_with_all_shards_but_one(opens, stopped).await;
            assert!(
                matches!(trouble, Some(LedgerFault::Behind { .. })),
                "{counters}, {stopped}: {trouble:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_server_leaves_no_marks() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.heartbeat().await;
    server.heartbeat().await;
    let before = (world.ledger.snapshot().version(), marked(&server, 0), marked(&server, 1));
    let shown = server.wires.ledger.calls("heartbeat");
    for _ in 0..5 {
        server.heartbeat().await;
    }
    server.stop().await;
    assert!(server.wires.ledger.calls("heartbeat") >= shown + 5);
    assert_eq!((world.ledger.snapshot().version(), marked(&server, 0), marked(&server, 1)), before);
}

/// What was said of versions that some place did not take: whether another shard bears it, and the data directory.
fn unmarked(server: &Server) -> Vec<(bool, bool)> {
    let of = |event: Event| match event {
        Event::Unmarked { elsewhere, home, .. } => Some((elsewhere, home)),
        _ => None,
    };
    server.events().into_iter().filter_map(of).collect()
}

#[tokio::test(start_paused = true)]
async fn a_data_directory_that_takes_no_mark_is_told_and_not_counted_as_bearing_it() {
    let two = World::new(2);
    let server = two.open("server").await;
    two.home.breaks(true);
    open(&server, 0, 9).await;
    assert_eq!(unmarked(&server), [(true, false)], "once");
    two.home.breaks(false);
    open(&server, 0, 1).await;
    two.home.breaks(true);
    open(&server, 0, 1).await;
    assert_eq!(unmarked(&server).len(), 2, "and again when it failed again");
    assert_eq!(server.guard.status().unmarked, 0, "another shard bears it");
    let alone = World::new(1);
    let server = alone.open("server").await;
    alone.home.breaks(true);
    open(&server, 0, 1).await;
    assert_eq!(unmarked(&server), [(false, false)], "nobody bears it");
    assert_eq!(server.guard.status().unmarked, 1);
}

#[tokio::test(start_paused = true)]
async fn that_no_other_shard_takes_marks_is_told_once_and_counted_each_time() {
    let world = World::new(2);
    let server = world.open("server").await;
    open(&server, 0, 1).await;
    server.wires.stores[1].cut();
    open(&server, 0, 9).await;
    assert_eq!(unmarked(&server), [(false, true)], "once");
    assert_eq!(server.guard.status().unmarked, 9, "each version");
    server.wires.stores[1].mend();
    open(&server, 0, 1).await;
    server.wires.stores[1].cut();
    open(&server, 0, 3).await;
    assert_eq!(unmarked(&server).len(), 2, "and again when it failed again");
    assert_eq!(server.guard.status().unmarked, 12);
}

#[tokio::test(start_paused = true)]
async fn a_single_shard_without_a_data_directory_says_once_that_nothing_bears_marks() {
    let alone = World::new(1);
    let server = alone.open_as("server", Setup { home: false, ..Setup::default() }).await;
    open(&server, 0, 9).await;
    assert_eq!(unmarked(&server), [(false, true)], "once");
    assert_eq!(server.guard.status().unmarked, 9);
}

#[tokio::test(start_paused = true)]
async fn somebody_elses_store_in_the_place_of_one_bears_no_mark() {
    let other = World::of(Kind { seed: 2, ..Kind::default() });
    other.open("elsewhere").await.take_to(1, 5).await;
    let world = World::new(3);
    let server = world.open("server").await;
    for slot in 0..3 {
        server.take_to(slot, 5).await;
    }
    world.stores[1].restore(other.stores[1].snapshot());
    let held = mark_of(&world.stores[1]).await.unwrap();
    open(&server, 0, 6).await;
    let version = world.ledger.snapshot().version();
    assert!(version > held);
    assert_eq!(mark_of(&world.stores[1]).await.unwrap(), held, "a mark landed in somebody else's store");
    assert_eq!(mark_of(&world.stores[2]).await.unwrap(), version, "the other one bears it");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_was_restarted_bears_the_next_mark() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.take_to(1, 5).await;
    world.stores[1].restart();
    open(&server, 0, 1).await;
    assert_eq!(mark_of(&world.stores[1]).await.unwrap(), world.ledger.snapshot().version());
    assert_eq!(server.count(|event| matches!(event, Event::Unmarked { .. })), 0);
}

#[tokio::test(start_paused = true)]
async fn the_marks_of_a_store_put_there_since_it_was_looked_at_accuse_nobody() {
    let other = World::of(Kind { seed: 2, ..Kind::default() });
    let elsewhere = other.open("elsewhere").await;
    elsewhere.take_to(1, 5).await;
    open(&elsewhere, 1, 50).await;
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.take_to(1, 5).await;
    world.stores[0].restore(other.stores[0].snapshot());
    assert!(mark_of(&world.stores[0]).await.unwrap() > world.ledger.snapshot().version());
    world.ledger.restart();
    server.heartbeat().await;
    assert_eq!(server.guard.trouble(), None);
}
