//! What is refused uses up no number: while no ceiling can be raised, callers that try again burn a block at most.

use std::{sync::Arc, time::Duration};

use sequent_core::{DurabilityClass, ErrorKind, Stamp, Store, ledger::Identity};
use sequent_guard::{GuardConfig, LedgerFault};

use crate::harness::{Kind, LedgerState, Server, Setup, World};

/// Takes that are refused.
const REFUSED: usize = 1000;

/// Ids of each.
const WANT: u64 = 10;

/// So many are in flight at a time.
const CALLERS: usize = 8;

/// What refused takes may burn above the ceiling: the block of each take that was in flight when none could be raised
/// any more.
const BURNT_MAX: u64 = WANT * CALLERS as u64;

/// A range so small that a thousand blocks are a jump many times over.
const RAW_MAX: u64 = 100_000;

fn short() -> Setup {
    Setup { raw_max: RAW_MAX, ..Setup::default() }
}

/// Callers that try again and again: all that is left under the ceiling leaves, and the rest is refused.
async fn refuses(server: &Arc<Server>, kind: ErrorKind) {
    let caller = |_| {
        let server = Arc::clone(server);
        tokio::spawn(async move {
            let mut refused = 0;
            while refused < REFUSED / CALLERS {
                if let Err(error) = server.take(0, WANT).await {
                    assert_eq!(error.kind(), kind, "{error}");
                    refused += 1;
                }
            }
        })
    };
    for caller in (0..CALLERS).map(caller).collect::<Vec<_>>() {
        caller.await.unwrap();
    }
}

/// Nothing was burnt that could become a jump, and the counter goes on.
async fn goes_on(world: &World, server: &Server, ceiling: u64) {
    let at = world.cell(0).value;
    assert!(at <= ceiling + BURNT_MAX, "the cell is at {at}, the ceiling was {ceiling}");
    for _ in 0..20 {
        server.take(0, WANT).await.unwrap();
    }
    world.open("other").await.take(0, WANT).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn while_the_ledger_is_away_refused_takes_move_no_counter() {
    for class in [DurabilityClass::Durable, DurabilityClass::Lossy, DurabilityClass::Volatile] {
        let setup = short();
        let world = World::of(Kind { class, ..Kind::default() });
        let server = world.open_as("server", setup).await;
        for _ in 0..3 {
            server.take(0, WANT).await.unwrap();
        }
        let ceiling = world.row(0).ceiling;
        server.wires.ledger.cut();
        refuses(&server, ErrorKind::NoWitness).await;
        server.wires.ledger.mend();
        server.heartbeat().await;
        goes_on(&world, &server, ceiling).await;
    }
}

#[tokio::test(start_paused = true)]
async fn once_the_loss_was_noticed_all_below_the_ceiling_leaves_and_nothing_is_burnt() {
    let world = World::new(2);
    let server = world.open_as("server", short()).await;
    server.take_to(0, 5).await;
    let source = server.source(&crate::harness::key(), 0).await.unwrap();
    let ceiling = world.row(0).ceiling;
    server.wires.ledger.cut();
    server.heartbeat().await;
    let moved = source.lift(ceiling).await.unwrap_err();
    assert_eq!(moved.kind(), ErrorKind::NoWitness, "a lift burns what is left as well");
    while server.take(0, 7).await.is_ok() {}
    for _ in 0..REFUSED {
        server.take(0, 7).await.unwrap_err();
    }
    assert_eq!((world.highest(0), world.cell(0).value), (ceiling, ceiling));
}

/// What others took meanwhile is a jump to a server that has rested: what it draws is counted all the same.
#[tokio::test(start_paused = true)]
async fn a_server_that_has_rested_moves_no_counter_either() {
    let world = World::new(2);
    let (server, other) = (world.open_as("server", short()).await, world.open_as("other", short()).await);
    server.take_to(0, 5).await;
    server.heartbeat().await;
    other.take_to(0, 5000).await;
    let at = world.cell(0).value;
    server.wires.ledger.cut();
    refuses(&server, ErrorKind::NoWitness).await;
    assert!(world.cell(0).value <= at + BURNT_MAX, "from {at} to {}", world.cell(0).value);
    server.wires.ledger.mend();
    server.heartbeat().await;
    goes_on(&world, &server, world.row(0).ceiling).await;
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_is_lost_again_at_each_raise_costs_a_block_once() {
    let world = World::new(2);
    let setup = short();
    let config = GuardConfig { outage: Duration::ZERO, ..setup.config };
    let server = world.open_as("server", Setup { config, ..setup }).await;
    server.take(0, WANT).await.unwrap();
    for _ in 0..100 {
        server.wires.ledger.cut();
        server.take(0, WANT).await.unwrap_err();
        server.wires.ledger.mend();
        server.heartbeat().await;
    }
    assert_eq!(world.cell(0).value, 2 * WANT);
    server.take(0, WANT).await.unwrap();
}

/// Puts another cluster's ledger in the place of the world's; returns the world's own.
async fn replace(world: &World, server: &Server) -> LedgerState {
    let foreign = World::of(Kind { seed: 7, ..Kind::default() }).ledger.snapshot();
    let own = world.ledger.snapshot();
    world.ledger.restore_in_place(foreign);
    server.heartbeat().await;
    assert!(matches!(server.guard.trouble(), Some(LedgerFault::Another { .. })));
    own
}

#[tokio::test(start_paused = true)]
async fn another_ledger_in_its_place_moves_no_counter_and_its_own_put_back_serves_again() {
    let world = World::new(2);
    let server = world.open_as("server", Setup { raw_max: RAW_MAX, ..Setup::default() }).await;
    for _ in 0..3 {
        server.take(0, WANT).await.unwrap();
    }
    let ceiling = world.row(0).ceiling;
    let own = replace(&world, &server).await;
    refuses(&server, ErrorKind::LedgerBehind).await;
    server.heartbeat().await;
    world.ledger.restore_in_place(own);
    server.heartbeat().await;
    assert_eq!(server.guard.trouble(), None, "under the instance in force nothing has changed");
    goes_on(&world, &server, ceiling).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ran_through_a_recovery_says_that_it_is_to_be_restarted_and_no_loss_to_be_named_again()
{
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    replace(&world, &server).await;
    let text = server.guard.trouble().unwrap().error().to_string();
    assert!(text.contains("the cluster recovered meanwhile: restart this server"), "{text}");
    // What `recover` does with an empty ledger: it takes up the cluster of the stores.
    let found = world.ledger.inspect().await.unwrap().id;
    for store in &world.stores {
        let seen = store.inspect().await.unwrap();
        let Some(own) = seen.stamp else { continue };
        let stamp = Stamp { ledger: found, ..own.clone() };
        store.stamp(&seen.instance, Some(&own), &stamp).await.unwrap();
    }
    server.heartbeat().await;
    let trouble = server.guard.trouble().unwrap();
    assert!(matches!(&trouble, LedgerFault::TakenUp { found: by, .. } if *by == found), "{trouble:?}");
    let text = trouble.error().to_string();
    assert!(text.contains("restart this server") && !text.contains("--bump"), "{text}");
    refuses(&server, ErrorKind::LedgerBehind).await;
}

#[tokio::test(start_paused = true)]
async fn an_older_copy_put_back_in_the_place_of_another_ledger_is_judged_by_its_marks() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    let own = replace(&world, &server).await;
    world.home.leave(own.version() + 1);
    world.ledger.restore_in_place(own);
    for _ in 0..2 {
        server.heartbeat().await;
        assert!(matches!(server.guard.trouble(), Some(LedgerFault::Behind { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn what_troubled_a_ledger_before_another_took_its_place_troubles_it_afterwards() {
    let world = World::new(2);
    let setup = Setup { embedded: true, ..Setup::default() };
    let server = world.open_as("server", setup).await;
    server.take_to(0, 5).await;
    world.ledger.restart();
    world.stores.iter().for_each(crate::harness::MemoryStore::restart);
    server.heartbeat().await;
    assert_eq!(server.guard.trouble(), Some(LedgerFault::Moved));
    let own = replace(&world, &server).await;
    world.ledger.restore_in_place(own);
    server.heartbeat().await;
    assert_eq!(server.guard.trouble(), Some(LedgerFault::Moved));
}
