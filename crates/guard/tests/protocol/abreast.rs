//! A counter of which neither cell nor row says how far it was begins no lower than the key's other slots are.

use std::{sync::Arc, time::Duration};

use sequent_core::{ErrorKind, Key};

use crate::harness::{Kind, MemoryStore, Server, Setup, World, counter, key};

/// So far both slots are.
const FAR: u64 = 5000;

/// What a hand has written into a row.
const POISON: u64 = 1 << 62;

/// A range in which a row can be set far.
fn wide() -> Setup {
    Setup { raw_max: 1 << 62, ..Setup::default() }
}

/// Two slots that are as far as each other, and nobody who runs.
async fn level() -> World {
    let world = World::new(2);
    let server = world.open_as("before", wide()).await;
    for slot in 0..2 {
        while world.highest(slot) < FAR {
            server.take(slot, 100).await.unwrap();
        }
    }
    server.stop().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    world
}

async fn next(server: &Arc<Server>, slot: u16) -> u64 {
    server.take(slot, 1).await.unwrap()[0]
}

#[tokio::test(start_paused = true)]
async fn a_counter_whose_row_and_cell_were_deleted_goes_on_beside_the_others() {
    let world = level().await;
    assert!(world.stores[0].delete(&key()) && world.ledger.delete_row(&counter(0)));
    let server = world.open_as("after", wide()).await;
    assert!(next(&server, 0).await > FAR);
    assert!(next(&server, 1).await > FAR);
}

#[tokio::test(start_paused = true)]
async fn so_does_one_whose_row_was_lowered() {
    let world = level().await;
    assert!(world.stores[0].delete(&key()));
    let counter = counter(0);
    assert!(world.ledger.set_base(&counter, 0) && world.ledger.set_ceiling(&counter, 10));
    assert!(world.ledger.set_seen(&counter, 10));
    let server = world.open_as("after", wide()).await;
    assert!(next(&server, 0).await > FAR);
}

#[tokio::test(start_paused = true)]
async fn and_long_after_its_key_came_alive() {
    let world = level().await;
    let server = world.open_as("after", wide()).await;
    next(&server, 1).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(world.stores[0].delete(&key()) && world.ledger.delete_row(&counter(0)));
    assert!(next(&server, 0).await > FAR);
}

#[tokio::test(start_paused = true)]
async fn slots_that_begin_one_after_the_other_all_begin_at_one() {
    let world = World::new(4);
    for (slot, server) in (0..4).zip([world.open("a").await, world.open("b").await].iter().cycle()) {
        assert_eq!(server.take(slot, 500).await.unwrap()[0], 1, "slot {slot}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn however_long_after_the_first_the_others_begin() {
    let world = World::new(4);
    for slot in 0..4 {
        let server = world.open("a day's").await;
        assert_eq!(server.take(slot, 500).await.unwrap()[0], 1, "slot {slot}");
        server.stop().await;
        tokio::time::sleep(Duration::from_secs(86_400)).await;
    }
    assert_eq!(world.history(3), [], "what was announced is no epoch");
}

#[tokio::test(start_paused = true)]
async fn what_was_announced_and_is_gone_goes_on_beside_the_others() {
    let world = World::new(2);
    world.open("before").await.take_to(1, FAR).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(world.row_of(&counter(0)).unwrap().is_announced());
    assert!(world.ledger.delete_row(&counter(0)));
    assert!(next(&world.open("after").await, 0).await > FAR);
}

/// Their ceilings must not climb upon one another.
#[tokio::test(start_paused = true)]
async fn slots_that_forget_together_go_on_together() {
    let world = World::new(4);
    let server = world.open("server").await;
    for slot in 0..4 {
        server.take_to(slot, 300).await;
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    world.stores.iter().for_each(MemoryStore::empty);
    let highest = (0..4).map(|slot| world.row(slot).ceiling).max().unwrap();
    for slot in 0..4 {
        assert_eq!(next(&server, slot).await, highest + 1, "slot {slot}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_row_set_far_ahead_is_not_followed() {
    for has_row in [false, true] {
        let world = level().await;
        let poisoned = counter(1);
        let set = [
            world.ledger.set_base(&poisoned, POISON),
            world.ledger.set_ceiling(&poisoned, POISON),
            world.ledger.set_seen(&poisoned, POISON),
        ];
        assert_eq!(set, [true; 3]);
        assert!(world.stores[0].delete(&key()) && (has_row || world.ledger.delete_row(&counter(0))));
        let server = world.open_as("after", wide()).await;
        let first = next(&server, 0).await;
        // Nobody knows how far it was where its row is gone, too.
        let most = if has_row { FAR + (1 << 20) } else { 1 << 37 };
        assert!(first > FAR && first < most, "{first}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_ceiling_that_no_server_asked_for_is_not_followed() {
    let world = level().await;
    assert!(world.ledger.set_ceiling(&counter(1), POISON));
    assert!(world.stores[0].delete(&key()));
    let (before, server) = (world.row(0).ceiling, world.open_as("after", wide()).await);
    assert_eq!(next(&server, 0).await, before + 1);
}

/// Row and cell of one slot say 2^62: those that were announced beside it begin at 1, one whose word is gone too begins half a jump on,
/// and no further when it forgets again and again, and another key hears of nothing.
#[tokio::test(start_paused = true)]
async fn slots_that_begin_beside_a_counter_set_far_ahead_are_not_dragged_along() {
    let world = World::of(Kind { slots: 4, ..Kind::default() });
    world.open_as("before", wide()).await.take(3, 1).await.unwrap();
    let far = counter(3);
    assert!(world.ledger.set_base(&far, POISON) && world.ledger.set_ceiling(&far, POISON));
    assert!(world.ledger.set_seen(&far, POISON) && world.stores[3].set_value(&key(), POISON));
    assert!(world.row(0).is_announced() && world.ledger.delete_row(&counter(2)));
    tokio::time::sleep(Duration::from_secs(60)).await;
    let (a, b) = (world.open_as("a", wide()).await, world.open_as("b", wide()).await);
    assert_eq!(a.take(3, 1).await.unwrap_err().kind(), ErrorKind::Jumped);
    assert_eq!((next(&a, 0).await, next(&b, 1).await), (1, 1));
    assert_eq!((next(&b, 0).await, next(&a, 1).await), (2, 2));
    let first = next(&a, 2).await;
    assert!(first < 1 << 36, "{first}");
    for forgot in 1..=4 {
        assert!(world.stores[2].delete(&key()));
        tokio::time::sleep(Duration::from_secs(60)).await;
        let next = next(&a, 2).await;
        assert!(next < first + (1 << 20), "{next}: forgot {forgot} times");
    }
    assert_eq!(a.take_of(&Key::from_stored("other"), 3, 1).await.unwrap(), [1]);
    assert!(world.row(0).ceiling < 1 << 20 && world.row(1).ceiling < 1 << 20);
    assert_eq!(b.take(3, 1).await.unwrap_err().kind(), ErrorKind::Jumped);
}
