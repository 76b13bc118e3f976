//! The ledger restarts, goes back, or moved with everything else.

use std::time::Duration;

use sequent_core::{
    ErrorKind, Event, Key, Layout, Scope,
    ledger::{Identity as _, LayoutBook as _, LayoutRecord, Loss},
};
use sequent_guard::LedgerFault;

use crate::harness::{Gate, Kind, LedgerState, MemoryStore, Setup, When, World};

#[tokio::test(start_paused = true)]
async fn a_ledger_that_restarts_ends_every_permit() {
    let world = World::new(2);
    let (a, b) = (world.open("a").await, world.open("b").await);
    a.take_to(0, 30).await;
    b.take_to(0, 60).await;
    let before = world.row(0);
    world.ledger.restart();
    // A grant counts on within its ceiling until its server has heard of the restart: the store fences it.
    for _ in 0..3 {
        a.heartbeat().await;
        for server in [&a, &b] {
            server.take(0, 1).await.unwrap();
        }
    }
    let row = world.row(0);
    assert!(row.base >= before.ceiling && row.ledger == world.ledger.instance());
    assert_eq!(world.history(0).len(), 1, "the second server joined the epoch that the first one opened");
    for server in [&a, &b] {
        assert_eq!(server.count(|event| matches!(event, Event::LedgerInstanceChanged { .. })), 1);
        assert_eq!(server.guard.trouble(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_ledger_set_back_in_place_is_found_by_a_nonce_and_reborn() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.heartbeat().await;
    server.heartbeat().await;
    let copy = world.ledger.snapshot();
    server.heartbeat().await;
    assert_eq!(world.ledger.snapshot().version(), copy.version(), "no mark can tell");
    let before = world.ledger.instance();
    world.ledger.restore_in_place(copy);
    server.heartbeat().await;
    assert_ne!(world.ledger.instance(), before);
    assert_eq!(server.guard.trouble(), None);
    server.take(0, 1).await.unwrap();
    assert_eq!(world.row(0).ledger, world.ledger.instance(), "a new epoch, under the new instance");
}

#[tokio::test(start_paused = true)]
async fn only_the_server_that_finds_the_ledger_set_back_makes_it_reborn() {
    let world = World::new(2);
    let (a, b) = (world.open("a").await, world.open("b").await);
    let copy = world.ledger.snapshot();
    a.heartbeat().await;
    world.ledger.restore_in_place(copy);
    a.heartbeat().await;
    a.heartbeat().await;
    assert_eq!(a.wires.ledger.calls("rebear") + b.wires.ledger.calls("rebear"), 1);
    assert_eq!(a.guard.status().ledger, b.guard.status().ledger);
}

/// A world whose ledger went back to before a raise; the server has noticed.
async fn set_back_behind_its_marks() -> (World, std::sync::Arc<crate::harness::Server>) {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let copy = world.ledger.snapshot();
    server.take_to(0, world.row(0).ceiling + 1).await;
    assert!(world.ledger.snapshot().version() > copy.version());
    world.ledger.restore(copy);
    server.heartbeat().await;
    (world, server)
}

#[tokio::test(start_paused = true)]
async fn a_ledger_behind_its_marks_opens_and_raises_nothing() {
    let (world, server) = set_back_behind_its_marks().await;
    assert!(
        matches!(server.guard.trouble(), Some(LedgerFault::Behind { .. })),
        "{:?}",
        server.guard.trouble()
    );
    let rows = world.ledger.snapshot();
    for _ in 0..2 {
        assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
        assert_eq!(server.take(1, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
        server.heartbeat().await;
    }
    let late = world.open("late").await;
    assert!(matches!(late.guard.trouble(), Some(LedgerFault::Behind { .. })));
    assert_eq!(late.take(0, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
    assert_eq!(
        late.take_of(&Key::from_stored("new"), 1, 1).await.unwrap_err().kind(),
        ErrorKind::LedgerBehind
    );
    assert_eq!(world.ledger.snapshot().list(None, 9), rows.list(None, 9));
    assert_eq!(server.count(|event| matches!(event, Event::LedgerBehind { .. })), 1);
}

#[tokio::test(start_paused = true)]
async fn an_operator_who_names_the_loss_brings_service_back() {
    let (world, server) = set_back_behind_its_marks().await;
    let late = world.open("late").await;
    let before = world.highest(0);
    world.recover(Loss::Bump(1000)).await;
    server.heartbeat().await;
    assert_eq!(server.guard.trouble(), None);
    assert!(server.take(0, 1).await.unwrap()[0] > before);
    assert!(late.take(0, 1).await.unwrap()[0] > before);
    assert!(world.row(0).base >= 1000);
}

/// A copy made before the founding knows no layout: the servers that run on write theirs again, as one that opens would.
#[tokio::test(start_paused = true)]
async fn after_a_recovery_from_a_copy_without_a_layout_running_servers_go_on() {
    let world = World::new(2);
    let unfounded = world.ledger.snapshot();
    let server = world.open("server").await;
    let before = server.take_to(0, 5).await;
    world.ledger.restore(unfounded);
    server.heartbeat().await;
    assert_eq!(server.take(1, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
    world.recover(Loss::Bump(1000)).await;
    server.heartbeat().await;
    assert!(server.take(0, 1).await.unwrap()[0] > before);
}

/// What the ledger refuses is no shard's fault: a slot that was put out for it would stay out.
#[tokio::test(start_paused = true)]
async fn a_ledger_of_another_layout_stops_the_server_and_puts_no_slot_out() {
    let world = World::new(2);
    let unfounded = world.ledger.snapshot();
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    world.ledger.restore(unfounded);
    let other =
        LayoutRecord { cluster: "test".parse().unwrap(), layout: Layout::new(3, 0).unwrap(), generation: 1 };
    assert_eq!(world.ledger.found(&other).await.unwrap(), other);
    world.recover(Loss::Bump(1000)).await;
    for _ in 0..2 {
        server.heartbeat().await;
        assert!(matches!(server.guard.trouble(), Some(LedgerFault::Relaid { .. })));
        let refused = server.take(0, 1).await.unwrap_err();
        assert_eq!(refused.kind().verdict().scope, Scope::Nobody, "{refused}");
        assert!(refused.to_string().contains("shard_bits: the ledger was founded with 3"), "{refused}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_shard_and_the_ledger_that_went_back_together_are_found_by_the_mark_on_another() {
    let world = World::new(2);
    let server = world.open_as("server", Setup { home: false, ..Setup::default() }).await;
    server.take_to(0, 5).await;
    let copies = (world.ledger.snapshot(), world.stores[0].snapshot());
    server.take_to(0, world.row(0).ceiling + 1).await;
    server.stop().await;
    world.ledger.restore(copies.0);
    world.stores[0].restore(copies.1);
    let next = world.open_as("next", Setup { home: false, ..Setup::default() }).await;
    assert_eq!(next.take(0, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
}

/// A ring whose ledger and stores were all put back to one moment under a server that runs: no mark is left that tells.
async fn set_back_with_all_marks() -> (World, std::sync::Arc<crate::harness::Server>, impl Fn(&World)) {
    let world = World::new(2);
    let server = world.open_as("server", Setup { home: false, ..Setup::default() }).await;
    server.take_to(0, 5).await;
    server.heartbeat().await;
    let (ledger, stores) = (world.ledger.snapshot(), [0, 1].map(|slot| world.stores[slot].snapshot()));
    server.take_to(0, world.row(0).ceiling + 1).await;
    // Every store bears the newest mark, and loses it.
    server.heartbeat().await;
    world.ledger.restore(ledger);
    let put_back = move |world: &World| {
        world.stores.iter().zip(&stores).for_each(|(store, copy)| store.restore(copy.clone()));
    };
    put_back(&world);
    (world, server, put_back)
}

/// Marks are not all that a server knows: it remembers how far the ledger was when it heard of it last.
#[tokio::test(start_paused = true)]
async fn a_ledger_behind_what_a_running_server_heard_opens_nothing_though_every_mark_went_back_with_it() {
    let (world, server, put_back) = set_back_with_all_marks().await;
    let before = world.highest(0);
    // Before any heartbeat: the first call meets another instance of the ledger.
    let refused = async || server.take(0, 1).await.unwrap_err().kind();
    assert_eq!(refused().await, ErrorKind::LedgerBehind);
    assert!(
        matches!(server.guard.trouble(), Some(LedgerFault::Behind { .. })),
        "{:?}",
        server.guard.trouble()
    );
    // Whatever restarts, and goes back once more: it is not forgotten.
    for _ in 0..2 {
        world.ledger.restart();
        put_back(&world);
        server.heartbeat().await;
        assert_eq!(refused().await, ErrorKind::LedgerBehind);
    }
    let late = world.open("late").await;
    assert_eq!(late.take(0, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind, "others are told");
    world.recover(Loss::Bump(1000)).await;
    for server in [&server, &late] {
        server.heartbeat().await;
        assert_eq!(server.guard.trouble(), None, "a named loss is above what was heard");
        assert!(server.take(0, 1).await.unwrap()[0] > before);
    }
}

#[tokio::test(start_paused = true)]
async fn one_shard_alone_can_leave_marks_at_home_only_and_counts_them() {
    let alone = World::new(1);
    let server = alone.open("server").await;
    server.take_to(0, 5).await;
    assert!(server.guard.status().unmarked > 0);
    assert_eq!(server.count(|event| matches!(event, Event::Unmarked { .. })), 0, "it is as it is meant");
    assert_eq!(alone.home.held(), alone.ledger.snapshot().version());
    let two = World::new(2);
    let server = two.open("server").await;
    server.take_to(0, 5).await;
    assert_eq!(server.count(|event| matches!(event, Event::Unmarked { .. })), 0);
    assert_eq!(two.home.held(), two.ledger.snapshot().version());
}

#[tokio::test(start_paused = true)]
async fn what_others_raise_during_an_opening_is_no_sign_that_the_ledger_went_back() {
    let world = World::new(2);
    let busy = world.open("busy").await;
    busy.take_to(0, 5).await;
    let wires = world.wires();
    let gate = wires.ledger.hold("inspect", When::After);
    let raising = async {
        gate.reached().await;
        busy.take_to(0, world.row(0).ceiling + 1).await;
        gate.open();
    };
    let (server, ()) = tokio::join!(world.open_over("server", wires), raising);
    assert_eq!(server.guard.trouble(), None);
    server.take(0, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn servers_that_find_a_restarted_ledger_together_all_go_on() {
    for seed in 0..32 {
        let world = World::of(Kind { yields: true, seed, ..Kind::default() });
        let servers = [world.open("a").await, world.open("b").await, world.open("c").await];
        for server in &servers {
            server.take_to(0, 5).await;
        }
        world.ledger.restart();
        let [a, b, c] = servers.each_ref().map(|server| async move {
            for _ in 0..100 {
                server.take(0, 5).await.unwrap();
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            assert_eq!(server.guard.trouble(), None);
        });
        tokio::join!(a, b, c);
    }
}

/// A world whose ledger can go back behind its marks, and the copy to do it with.
async fn about_to_go_back() -> (World, LedgerState) {
    let world = World::new(2);
    let first = world.open("first").await;
    first.take_to(0, 5).await;
    let copy = world.ledger.snapshot();
    first.take_to(0, world.row(0).ceiling + 1).await;
    (world, copy)
}

/// While a look at the ledger is on its way back, the ledger is set back in place, and a shard forgets.
async fn set_back_during_a_look(world: &World, gate: Gate, copy: LedgerState) {
    gate.reached().await;
    world.ledger.restore_in_place(copy);
    world.stores[0].empty();
    gate.open();
}

#[tokio::test(start_paused = true)]
async fn a_ledger_set_back_between_the_look_and_the_nonce_of_an_opening_is_found_by_its_version() {
    let (world, copy) = about_to_go_back().await;
    let wires = world.wires();
    let gate = wires.ledger.hold("inspect", When::After);
    let (late, ()) = tokio::join!(world.open_over("late", wires), set_back_during_a_look(&world, gate, copy));
    assert!(matches!(late.guard.trouble(), Some(LedgerFault::Behind { .. })), "{:?}", late.guard.trouble());
    assert_eq!(late.take(0, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_set_back_between_the_look_and_the_nonce_of_a_renewal_is_found_by_its_version() {
    let (world, copy) = about_to_go_back().await;
    let wires = world.wires();
    let other = world.open_over("other", wires.clone()).await;
    world.ledger.restart();
    let gate = wires.ledger.hold("inspect", When::After);
    tokio::join!(other.heartbeat(), set_back_during_a_look(&world, gate, copy));
    assert!(matches!(other.guard.trouble(), Some(LedgerFault::Behind { .. })), "{:?}", other.guard.trouble());
    assert_eq!(other.take(0, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
}

fn embedded() -> Setup {
    Setup { embedded: true, ..Setup::default() }
}

/// A directory that was copied: ledger and all stores are other files than those on record.
async fn moved() -> World {
    let world = World::new(2);
    let server = world.open_as("server", embedded()).await;
    server.take_to(0, 20).await;
    server.take_to(1, 20).await;
    server.stop().await;
    world.ledger.restart();
    world.stores.iter().for_each(MemoryStore::restart);
    world
}

#[tokio::test(start_paused = true)]
async fn a_copied_directory_opens_only_after_an_operator_has_said_which_copy_it_is() {
    for loss in [Loss::Moved, Loss::Bump(500)] {
        let world = moved().await;
        for _ in 0..2 {
            let error = world.try_open("copy", embedded()).await.err().expect("a refusal");
            assert_eq!(error.kind(), ErrorKind::LedgerBehind);
            let text = error.to_string();
            assert!(text.contains("recover --moved") && text.contains("--bump"), "{text}");
        }
        world.recover(loss).await;
        let server = world.open_as("server", embedded()).await;
        let next = server.take(0, 1).await.unwrap()[0];
        assert!(next > 20 && (loss == Loss::Moved || next > 500), "{next}");
        server.stop().await;
        world.open_as("again", embedded()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_directory_of_which_one_file_is_as_it_was_has_not_moved() {
    let world = World::new(2);
    world.open_as("server", embedded()).await.stop().await;
    world.ledger.restart();
    world.stores[0].restart();
    world.open_as("server", embedded()).await.stop().await;
    world.stores.iter().for_each(MemoryStore::restart);
    let server = world.open_as("server", embedded()).await;
    assert_eq!(server.guard.trouble(), None);
}

#[tokio::test(start_paused = true)]
async fn everything_that_moves_under_a_running_server_stops_it() {
    let world = World::new(2);
    let server = world.open_as("server", embedded()).await;
    server.take_to(0, 20).await;
    world.ledger.restart();
    world.stores.iter().for_each(MemoryStore::restart);
    server.heartbeat().await;
    assert_eq!(server.guard.trouble(), Some(LedgerFault::Moved));
    assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
    world.recover(Loss::Moved).await;
    server.heartbeat().await;
    assert!(server.take(0, 1).await.unwrap()[0] > 20);
}

#[tokio::test(start_paused = true)]
async fn another_layout_or_cluster_is_refused_before_anything_is_touched() {
    let world = World::new(2);
    world.open("server").await.take(0, 1).await.unwrap();
    let smaller = World { stores: world.stores[..1].to_vec(), ..world };
    let error = smaller.try_open("smaller", Setup::default()).await.err().expect("a refusal");
    assert_eq!(error.kind(), ErrorKind::Refused);
    let text = error.to_string();
    assert!(text.contains("shard_bits") && text.contains("founded with 1"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn two_slots_on_one_store_are_refused() {
    let world = World::new(2);
    let twice = World { stores: vec![world.stores[0].clone(), world.stores[0].clone()], ..world };
    let error = twice.try_open("twice", Setup::default()).await.err().expect("a refusal");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(twice.stores[0].snapshot().stamped().is_none() && twice.ledger.snapshot().layout().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_could_not_be_put_on_record_is_at_the_next_heartbeat() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    world.ledger.restart();
    let before = server.wires.ledger.calls("record");
    server.wires.ledger.busy_for("record", 2);
    for _ in 0..5 {
        server.heartbeat().await;
    }
    assert_eq!(server.wires.ledger.calls("record") - before, 3, "until it was taken, and no more");
    assert_eq!(world.ledger.known().await.unwrap().ledger, Some(world.ledger.instance()));
    server.take(0, 1).await.unwrap();
}
