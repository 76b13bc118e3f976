//! A value that nothing follows: it stops one counter, and neither ring nor ledger goes after it.

use std::{sync::Arc, time::Duration};

use sequent_core::{ErrorKind, Key};
use sequent_guard::FAR_BOTH;

use crate::harness::{Server, Setup, When, World, counter, key};

/// What a person, or a broken disk, has set a counter to.
const FAR: u64 = 1 << 62;

async fn is_a_jump(server: &Server, slot: u16) {
    assert_eq!(server.take(slot, 1).await.unwrap_err().kind(), ErrorKind::Jumped);
}

#[tokio::test(start_paused = true)]
async fn a_counter_set_far_ahead_stops_itself_alone() {
    let world = World::new(2);
    let (a, b) = (world.open("a").await, world.open("b").await);
    let other = Key::from_stored("other");
    a.take_to(0, 5).await;
    let before = world.row(0);
    assert!(world.stores[0].set_value(&key(), FAR));
    for server in [&a, &b, &a] {
        is_a_jump(server, 0).await;
        server.heartbeat().await;
        server.take(1, 1).await.unwrap();
        server.take_of(&other, 0, 1).await.unwrap();
    }
    assert_eq!((world.row(0).ceiling, world.row(0).epoch), (before.ceiling, before.epoch));
    assert!(a.source(&key(), 0).await.unwrap().position() <= Some(before.ceiling));
}

#[tokio::test(start_paused = true)]
async fn a_counter_that_is_set_right_again_goes_on() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    assert!(world.stores[0].set_value(&key(), FAR));
    is_a_jump(&server, 0).await;
    assert!(world.stores[0].set_value(&key(), 5));
    server.take_to(0, 300).await;
}

#[tokio::test(start_paused = true)]
async fn a_jump_is_not_followed_while_the_ledger_is_away_either() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    server.wires.ledger.cut();
    server.heartbeat().await;
    assert!(world.stores[0].set_value(&key(), FAR));
    is_a_jump(&server, 0).await;
    server.wires.ledger.mend();
    server.heartbeat().await;
    assert!(world.row(0).ceiling < 1 << 20);
}

#[tokio::test(start_paused = true)]
async fn a_lift_is_followed_half_a_jump_at_a_time() {
    let world = World::new(2);
    let server = world.open("server").await;
    let source = server.source(&key(), 0).await.unwrap();
    let mut last = 0;
    for _ in 0..5 {
        source.lift(1 << 39).await.unwrap();
        let next = server.take(0, 1).await.unwrap()[0];
        assert!(next > last && next - last < 1 << 30, "{last}, then {next}");
        last = next;
    }
}

/// A burst of one server is no jump to another that takes little, nor what they take past the end of the range.
#[tokio::test(start_paused = true)]
async fn what_others_have_in_hand_of_a_short_range_is_no_jump() {
    let world = World::new(2);
    let short = || Setup { raw_max: 2500, ..Setup::default() };
    let (burst, little) = (world.open_as("burst", short()).await, world.open_as("little", short()).await);
    for server in [&burst, &little] {
        server.take(0, 1).await.unwrap();
    }
    let gate = burst.wires.ledger.hold("raise", When::Before);
    let taker = Arc::clone(&burst);
    let in_hand = tokio::spawn(async move { taker.take(0, 500).await });
    gate.reached().await;
    assert!(little.take(0, 1).await.unwrap()[0] > 500, "the ledger knows nothing of these yet");
    gate.open();
    in_hand.await.unwrap().unwrap();
    while burst.take(0, 500).await.is_ok() {}
    for server in [&burst, &little] {
        assert_eq!(server.take(0, 1).await.unwrap_err().kind(), ErrorKind::Exhausted);
    }
}

#[tokio::test(start_paused = true)]
async fn a_jump_found_at_a_close_opens_nothing() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let before = world.row(0);
    assert!(world.stores[0].set_value(&key(), FAR));
    world.stores[0].restart();
    for _ in 0..3 {
        is_a_jump(&server, 0).await;
        server.take(1, 1).await.unwrap();
    }
    assert_eq!(world.row(0), before);
}

#[tokio::test(start_paused = true)]
async fn a_ceiling_set_far_ahead_in_the_ledger_opens_nothing() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    assert!(world.ledger.set_ceiling(&counter(0), FAR));
    // What it permits is too much, and does no harm while the epoch goes on.
    server.take_to(0, 200).await;
    let before = world.row(0);
    world.stores[0].restart();
    for _ in 0..3 {
        is_a_jump(&server, 0).await;
        server.take(1, 1).await.unwrap();
    }
    assert_eq!(server.guard.advance(&key(), 1 << 62, &[300]).await.unwrap_err().kind(), ErrorKind::Jumped);
    server.heartbeat().await;
    let row = world.row(0);
    assert_eq!((row.epoch, row.base, row.ceiling), (before.epoch, before.base, FAR));
    assert!(world.row(1).ceiling < 1 << 20);
}

#[tokio::test(start_paused = true)]
async fn a_ceiling_far_ahead_of_a_crash_is_no_jump() {
    let world = World::new(2);
    for crash in 0..5 {
        let server = world.open("server").await;
        server.take(0, 100_000).await.unwrap();
        server.take(0, 100_000).await.unwrap();
        server.take(0, 1).await.unwrap();
        assert!(world.row(0).ceiling > world.highest(0) + 1_000_000, "crash {crash}");
        server.kill();
        world.stores[0].restart();
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_first_block_of_a_small_counter_is_no_jump_after_a_crash() {
    let world = World::new(2);
    let small = Setup { raw_max: 1000, ..Setup::default() };
    let server = world.open_as("server", small).await;
    server.take(0, 100).await.unwrap();
    server.kill();
    world.stores[0].restart();
    let next = world.open_as("next", small).await;
    next.take(0, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_small_counter_gives_all_it_has_and_no_more() {
    let world = World::new(2);
    let small = Setup { raw_max: 40, ..Setup::default() };
    let servers = [world.open_as("a", small).await, world.open_as("b", small).await];
    let mut given = 0;
    for turn in 0..100 {
        match servers[turn % 2].take(0, 3).await {
            Ok(ids) => given += ids.len(),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Exhausted),
        }
    }
    assert_eq!((given, world.highest(0)), (40, 40));
    let ceiling = world.row_of(&counter(0)).unwrap().ceiling;
    assert!(ceiling <= 46, "each server went past the end once: {ceiling}");
}

/// The rows of a key are read when it comes alive; hours later they would make a jump of what others took meanwhile.
#[tokio::test(start_paused = true)]
async fn a_row_read_long_before_the_first_touch_is_read_again() {
    for (rest, reads) in [(1, 0), (10, 1)] {
        let world = World::new(2);
        let small = Setup { raw_max: 100_000, ..Setup::default() };
        let (other, server) = (world.open_as("other", small).await, world.open_as("server", small).await);
        other.take_to(1, 5).await;
        server.take(0, 1).await.unwrap();
        other.take_to(1, 5000).await;
        tokio::time::sleep(Duration::from_secs(rest)).await;
        let before = server.wires.ledger.calls("read");
        server.take(1, 1).await.unwrap();
        assert_eq!(server.wires.ledger.calls("read") - before, reads, "{rest} s later");
    }
}

/// What was seen tells of a jump, and the counter alone stops, whatever its ceiling permits.
#[tokio::test(start_paused = true)]
async fn a_value_far_ahead_is_followed_under_no_ceiling() {
    for both_at_once in [false, true] {
        let world = World::new(2);
        let (a, b) = (world.open("a").await, world.open("b").await);
        let other = Key::from_stored("other");
        a.take_to(0, 5).await;
        b.take_to(0, 9).await;
        assert!(world.ledger.set_ceiling(&counter(0), FAR + (1 << 40)));
        if !both_at_once {
            // Both have heard of it.
            a.take_to(0, 200).await;
            b.take_to(0, 400).await;
        }
        let before = world.row(0);
        assert!(world.stores[0].set_value(&key(), FAR));
        for server in [&a, &b, &a, &world.open("fresh").await] {
            is_a_jump(server, 0).await;
            server.heartbeat().await;
            server.take(1, 1).await.unwrap();
            server.take_of(&other, 0, 1).await.unwrap();
        }
        let row = world.row(0);
        assert_eq!((row.epoch, row.base, row.ceiling), (before.epoch, before.base, before.ceiling));
        assert!(row.seen < 1 << 20 && world.row(1).ceiling < 1 << 20, "{row:?}");
        assert!(a.source(&key(), 0).await.unwrap().position() < Some(1 << 20), "nothing is lifted after it");
        let error = a.take(0, 1).await.unwrap_err();
        assert!(error.to_string().contains(FAR_BOTH), "{error}");
        // Both are set right.
        assert!(world.ledger.set_ceiling(&counter(0), 500) && world.stores[0].set_value(&key(), 500));
        assert_eq!(a.take(0, 1).await.unwrap(), [501]);
    }
}

/// Who slept while others took more than a jump finds so in the row.
#[tokio::test(start_paused = true)]
async fn what_others_took_while_a_server_slept_is_no_jump() {
    let world = World::new(2);
    let wide = Setup { raw_max: 1 << 62, ..Setup::default() };
    let (sleeper, busy) = (world.open_as("sleeper", wide).await, world.open_as("busy", wide).await);
    sleeper.take(0, 1).await.unwrap();
    let source = busy.source(&key(), 0).await.unwrap();
    for _ in 0..10 {
        source.take(1 << 34).await.unwrap();
    }
    assert_eq!(sleeper.take(0, 1).await.unwrap(), [(10 << 34) + 2]);
}
