//! A row that claims more than anybody can have taken: a hand wrote it, and neither a server nor a store follows it.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    DurabilityClass, ErrorKind, Key,
    ledger::{Catalog, LedgerNote, Loss, NoteSubject},
};
use sequent_guard::{CELL_AS_FAR, DOUBTED_ROW};

use crate::harness::{Kind, Server, Setup, World, counter, key};

/// What a hand has written into a row.
const FAR: u64 = 1 << 62;

/// So many at once: less than a jump of [`wide`].
const MANY: u64 = 1 << 34;

/// A range in which counters get far.
fn wide() -> Setup {
    Setup { raw_max: 1 << 62, ..Setup::default() }
}

fn poison(world: &World, slot: u16) {
    assert!(world.ledger.set_ceiling(&counter(slot), FAR) && world.ledger.set_seen(&counter(slot), FAR));
}

async fn is_doubted(server: &Server, slot: u16) {
    let error = server.take(slot, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Jumped, "{error}");
    assert!(error.to_string().contains(DOUBTED_ROW), "{error}");
}

/// Takes until the server has heard of what the hand wrote: before that it goes on under what it was told.
async fn comes_to_doubt(server: &Server, slot: u16) {
    for _ in 0..1000 {
        if server.take(slot, 1).await.is_err() {
            break;
        }
    }
    is_doubted(server, slot).await;
}

#[tokio::test(start_paused = true)]
async fn a_row_set_far_ahead_under_load_stops_its_counter_alone() {
    let world = World::new(2);
    let servers = [world.open("a").await, world.open("b").await];
    let other = Key::from_stored("other");
    for server in &servers {
        server.take_to(0, 5).await;
        server.take_of(&other, 0, 1).await.unwrap();
    }
    let (row, cell) = (world.row(0), world.cell(0));
    poison(&world, 0);
    for server in &servers {
        comes_to_doubt(server, 0).await;
        server.heartbeat().await;
        server.take(1, 1).await.unwrap();
        server.take_of(&other, 0, 1).await.unwrap();
    }
    is_doubted(&*world.open("fresh").await, 0).await;
    let (after, now) = (world.row(0), world.cell(0));
    assert_eq!((after.epoch, after.base, after.seen), (row.epoch, row.base, FAR), "no epoch was opened");
    assert_eq!((now.epoch, now.open), (cell.epoch, true), "nothing was written to the store");
    assert!(now.value < 1 << 20 && world.row(1).ceiling < 1 << 20);
    let position = servers[0].source(&key(), 0).await.unwrap().position();
    assert!(position < Some(1 << 20), "nothing is lifted after it: {position:?}");
}

#[tokio::test(start_paused = true)]
async fn a_row_that_is_set_right_again_is_joined_and_nothing_is_lost() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let before = world.row(0);
    poison(&world, 0);
    comes_to_doubt(&server, 0).await;
    let value = world.cell(0).value;
    assert!(world.ledger.set_ceiling(&counter(0), value) && world.ledger.set_seen(&counter(0), value));
    assert_eq!(server.take(0, 1).await.unwrap(), [value + 1]);
    server.take_to(0, 300).await;
    assert_eq!(world.row(0).epoch, before.epoch);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_forgot_opens_no_epoch_above_such_a_row() {
    for forgets in [false, true] {
        let class = if forgets { DurabilityClass::Volatile } else { DurabilityClass::Durable };
        let world = World::of(Kind { class, ..Kind::default() });
        let server = world.open("server").await;
        server.take_to(0, 5).await;
        let before = world.row(0);
        poison(&world, 0);
        if forgets {
            world.stores[0].empty();
        } else {
            world.stores[0].restart();
        }
        is_doubted(&server, 0).await;
        is_doubted(&*world.open("fresh").await, 0).await;
        let after = world.row(0);
        assert_eq!((after.epoch, after.base), (before.epoch, before.base));
        server.take(1, 1).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn only_who_names_as_much_goes_on_above_such_a_row() {
    let world = World::new(1);
    let server = world.open_as("server", wide()).await;
    server.take_to(0, 5).await;
    let before = world.row(0);
    poison(&world, 0);
    comes_to_doubt(&server, 0).await;
    server.guard.advance(&key(), 1 << 62, &[5000]).await.unwrap();
    assert_eq!(world.row(0).epoch, before.epoch, "somebody else's floor");
    is_doubted(&server, 0).await;
    world.ledger.set_ceiling(&counter(0), FAR - 100);
    world.ledger.set_seen(&counter(0), FAR - 100);
    server.guard.advance(&key(), 1 << 62, &[FAR - 100]).await.unwrap();
    assert_eq!(server.take(0, 1).await.unwrap(), [FAR - 99]);
}

/// Takes 6 · 2^34 ids, more than a jump, and tells the ledger.
async fn far_on(world: &World) -> Arc<Server> {
    let server = world.open_as("far", wide()).await;
    let source = server.source(&key(), 0).await.unwrap();
    for _ in 0..6 {
        source.take(MANY).await.unwrap();
    }
    server.heartbeat().await;
    assert!(world.row(0).seen >= 6 * MANY);
    server
}

#[tokio::test(start_paused = true)]
async fn an_epoch_that_really_came_so_far_is_joined_without_a_call_more() {
    let world = World::new(2);
    let server = far_on(&world).await;
    server.stop().await;
    let next = world.open_as("next", wide()).await;
    let _source = next.source(&key(), 0).await.unwrap();
    let reads = next.wires.ledger.calls("read");
    assert_eq!(next.take(0, 1).await.unwrap(), [6 * MANY + 1]);
    assert_eq!(next.wires.ledger.calls("read"), reads);
    assert_eq!(next.wires.stores[0].calls("lift"), 1, "its cell was asked once");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_forgot_how_far_it_came_is_believed_by_its_row() {
    let world = World::of(Kind { class: DurabilityClass::Volatile, ..Kind::default() });
    drop(far_on(&world).await);
    world.stores[0].empty();
    let next = world.open_as("next", wide()).await;
    assert!(next.take(0, 1).await.unwrap()[0] > 6 * MANY);
}

#[tokio::test(start_paused = true)]
async fn a_store_put_back_to_an_old_copy_is_no_witness_against_its_row() {
    let world = World::new(2);
    let first = world.open_as("first", wide()).await;
    first.take(0, 1).await.unwrap();
    first.stop().await;
    let copy = world.stores[0].snapshot();
    drop(far_on(&world).await);
    world.stores[0].restore(copy);
    let next = world.open_as("next", wide()).await;
    assert!(next.take(0, 1).await.unwrap()[0] > 6 * MANY);
}

#[tokio::test(start_paused = true)]
async fn a_loss_that_was_named_is_believed_however_great() {
    for (slots, both) in [(1, false), (2, false), (2, true)] {
        let world = World::new(slots);
        let server = world.open_as("server", wide()).await;
        server.take_to(0, 5).await;
        if both {
            server.take(1, 1).await.unwrap();
        }
        server.stop().await;
        world.recover(Loss::Bump(1 << 50)).await;
        let next = world.open_as("next", wide()).await;
        assert!(next.take(0, 1).await.unwrap()[0] > 1 << 50, "{slots} slots, both used: {both}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_import_is_believed_by_servers_that_run_and_by_fresh_ones() {
    let world = World::new(2);
    let (a, b) = (world.open_as("a", wide()).await, world.open_as("b", wide()).await);
    a.take_to(0, 5).await;
    b.take_to(0, 9).await;
    a.guard.advance(&key(), 1 << 62, &[1 << 50, 1 << 50]).await.unwrap();
    for server in [&a, &b, &world.open_as("fresh", wide()).await] {
        for slot in [0, 1] {
            assert!(server.take(slot, 1).await.unwrap()[0] > 1 << 50);
        }
    }
}

/// All of a row at once, `base` among it, and what was its cell.
fn poison_all(world: &World, slot: u16, at: u64) {
    poison(world, slot);
    let counter = counter(slot);
    assert!(world.ledger.set_base(&counter, at) && world.ledger.set_seen(&counter, at));
    assert!(world.ledger.set_ceiling(&counter, at));
}

#[tokio::test(start_paused = true)]
async fn a_base_set_far_ahead_does_not_judge_itself_where_the_cell_is_gone() {
    // A row alone, beside others of its key, and one with epochs before.
    for (slots, epochs) in [(1, 1), (2, 1), (2, 3)] {
        for how in ["emptied", "deleted", "restarted"] {
            let class = if how == "emptied" { DurabilityClass::Volatile } else { DurabilityClass::Durable };
            let world = World::of(Kind { slots, class, ..Kind::default() });
            let server = world.open("server").await;
            for _ in 1..epochs {
                server.take_to(0, 5).await;
                world.stores[0].restart();
            }
            server.take_to(0, 50).await;
            if slots > 1 {
                server.take_to(1, 50).await;
            }
            let before = world.row(0);
            poison_all(&world, 0, FAR);
            match how {
                "emptied" => world.stores[0].empty(),
                "deleted" => assert!(world.stores[0].delete(&key())),
                _ => world.stores[0].restart(),
            }
            tokio::time::sleep(Duration::from_secs(3600)).await;
            comes_to_doubt(&server, 0).await;
            is_doubted(&*world.open("fresh").await, 0).await;
            let after = world.row(0);
            assert_eq!((after.epoch, after.base), (before.epoch, FAR), "{how}: no epoch begins above it");
            if slots > 1 {
                server.take(1, 1).await.unwrap();
                assert!(world.row(1).ceiling < 1 << 20, "{how}");
            }
            assert!(server.take_of(&Key::from_stored("other"), 0, 1).await.is_ok(), "{how}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cell_set_as_far_as_its_row_is_no_witness_for_it() {
    for base in [0, FAR] {
        for restarts in [false, true] {
            let world = World::new(2);
            let server = world.open("server").await;
            server.take_to(0, 50).await;
            server.take_to(1, 50).await;
            poison(&world, 0);
            assert!(world.ledger.set_base(&counter(0), base) && world.stores[0].set_value(&key(), FAR));
            if restarts {
                world.stores[0].restart();
            }
            let fresh = world.open("fresh").await;
            for server in [&fresh, &server] {
                comes_to_doubt(server, 0).await;
                server.heartbeat().await;
                server.take(1, 1).await.unwrap();
            }
            let error = fresh.take(0, 1).await.unwrap_err();
            assert!(error.to_string().contains(CELL_AS_FAR), "{error}");
            assert!(world.row(1).ceiling < 1 << 20);
            assert!(server.source(&key(), 0).await.unwrap().position() < Some(1 << 20));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_base_that_epochs_before_it_explain_is_believed_by_a_row_alone() {
    let world = World::of(Kind { slots: 1, class: DurabilityClass::Volatile, ..Kind::default() });
    for epoch in 1..=4_u64 {
        let server = world.open_as("server", wide()).await;
        let source = server.source(&key(), 0).await.unwrap();
        for _ in 0..10 {
            source.take(MANY).await.unwrap();
        }
        // As long as so many take.
        tokio::time::sleep(Duration::from_secs(10)).await;
        server.stop().await;
        world.stores[0].empty();
        assert!(world.row(0).base >= (epoch - 1) * 10 * MANY, "epoch {epoch}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_base_that_an_advance_explains_is_believed_by_a_row_alone() {
    let world = World::of(Kind { slots: 1, class: DurabilityClass::Volatile, ..Kind::default() });
    let server = world.open_as("server", wide()).await;
    server.take_to(0, 5).await;
    server.guard.advance(&key(), 1 << 62, &[1 << 50]).await.unwrap();
    server.stop().await;
    world.stores[0].empty();
    let next = world.open_as("next", wide()).await;
    assert!(next.take(0, 1).await.unwrap()[0] > 1 << 50);
}

/// By a version that noted where epochs begin only after them, and as a number.
#[tokio::test(start_paused = true)]
async fn a_base_that_a_note_of_an_advance_explains_is_believed() {
    let world = World::of(Kind { slots: 1, class: DurabilityClass::Volatile, ..Kind::default() });
    let server = world.open_as("server", wide()).await;
    server.take_to(0, 5).await;
    server.stop().await;
    poison_all(&world, 0, 1 << 50);
    world.stores[0].empty();
    is_doubted(&*world.open_as("next", wide()).await, 0).await;
    world.ledger.note(&LedgerNote { about: NoteSubject::Advanced(key()), to: 1 << 50 }).await.unwrap();
    assert!(world.open_as("later", wide()).await.take(0, 1).await.unwrap()[0] > 1 << 50);
}

/// A first touch between two slots of an advance: one is there, and the other is not yet.
#[tokio::test(start_paused = true)]
async fn an_advance_half_done_is_believed() {
    let world = World::new(3);
    let (a, b) = (world.open_as("a", wide()).await, world.open_as("b", wide()).await);
    for slot in 0..3 {
        a.take_to(slot, 5).await;
        b.take_to(slot, 9).await;
    }
    a.guard.advance(&key(), 1 << 62, &[1 << 50, 0, 0, 0]).await.unwrap();
    for server in [&b, &world.open_as("fresh", wide()).await] {
        assert!(server.take(0, 1).await.unwrap()[0] > 1 << 50);
        assert!(server.take(1, 1).await.unwrap()[0] < 1 << 20);
    }
}

#[tokio::test(start_paused = true)]
async fn two_rows_set_far_ahead_are_no_witnesses_for_each_other() {
    let world = World::new(3);
    let server = world.open("server").await;
    for slot in 0..3 {
        server.take_to(slot, 50).await;
    }
    server.stop().await;
    for slot in [0, 2] {
        poison_all(&world, slot, FAR);
        assert!(world.stores[usize::from(slot)].delete(&key()));
    }
    let next = world.open("next").await;
    is_doubted(&next, 0).await;
    is_doubted(&next, 2).await;
    next.take(1, 1).await.unwrap();
    assert!(world.row(1).ceiling < 1 << 20);
}
