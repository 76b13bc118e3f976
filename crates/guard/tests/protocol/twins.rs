//! A ledger and its copy, each with servers of its own, over one set of shards: no number comes twice.

use std::{sync::Arc, time::Duration};

use sequent_backend::memory::MemoryLedger;
use sequent_core::{
    Clock, DurabilityClass, ErrorKind, Event, Key,
    ledger::{DenseAsk, DenseTaken},
};
use sequent_guard::LedgerFault;
use sequent_testkit::PausedClock;

use crate::harness::{Kind, Server, Setup, World};

/// For so long both may be at work side by side: many heartbeats.
const AT_WORK: Duration = Duration::from_secs(30);

/// The same shards under a ledger of its own, restored from a copy of this one's; and a data directory of its own.
pub(crate) fn beside(world: &World) -> World {
    let clock: Arc<dyn Clock> = Arc::clone(&world.clock) as _;
    let ledger = MemoryLedger::new(clock, &world.entropy.fork()).posing_as(DurabilityClass::Durable);
    ledger.restore(world.ledger.snapshot());
    World {
        clock: Arc::clone(&world.clock),
        stores: world.stores.clone(),
        ledger,
        home: Arc::default(),
        numbers: Arc::clone(&world.numbers),
        rules: world.rules,
        entropy: world.entropy.fork(),
    }
}

async fn count(server: &Server) -> Result<u64, ErrorKind> {
    let ask = DenseAsk { key: Key::from_stored("invoice"), count: 1, limit: 1 << 40, above: 0 };
    match server.guard.count(ask).await.map_err(|error| error.kind())? {
        DenseTaken::Last(last) => Ok(last),
        other => panic!("{other:?}"),
    }
}

/// Dense numbers of a server, one after the other, until it gives none any more; or for [`AT_WORK`].
async fn counts(clock: Arc<PausedClock>, server: Arc<Server>, pause: Duration) -> Vec<u64> {
    let (mut given, begun) = (Vec::new(), clock.now());
    while clock.now() - begun < AT_WORK {
        match count(&server).await {
            Ok(number) => given.push(number),
            Err(ErrorKind::LedgerBehind) => break,
            Err(_) => {}
        }
        tokio::time::sleep(pause).await;
    }
    given
}

/// Spread numbers in the same way; the harness notes them, and a repeat ends the test.
async fn takes(clock: Arc<PausedClock>, server: Arc<Server>) -> usize {
    let (mut given, begun) = (0, clock.now());
    while clock.now() - begun < AT_WORK && server.guard.trouble().is_none() {
        for slot in 0..2 {
            given += server.take(slot, 7).await.map_or(0, |ids| ids.len());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    given
}

fn is_behind(server: &Server) -> bool {
    matches!(server.guard.trouble(), Some(LedgerFault::Behind { .. }))
}

#[tokio::test(start_paused = true)]
async fn dense_numbers_of_a_ledger_and_its_copy_under_load_never_repeat() {
    let world = World::new(2);
    let first = world.open("original").await;
    let loads = tokio::spawn(counts(Arc::clone(&world.clock), Arc::clone(&first), Duration::from_millis(10)));
    tokio::time::sleep(Duration::from_secs(3)).await;
    // Amid the load: what it gives from now on the copy knows nothing of.
    let copy = beside(&world);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let second = copy.open("copy").await;
    let beside = counts(Arc::clone(&world.clock), Arc::clone(&second), Duration::from_millis(10)).await;
    let given = loads.await.unwrap();
    assert!(given.len() > 300, "{}", given.len());
    let mut all = [given, beside].concat();
    let many = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(many, all.len(), "{} came twice", many - all.len());
    assert!(is_behind(&second), "marks tell what it lacks");
    assert_eq!(first.guard.trouble(), None, "nothing was given beside it");
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_is_made_while_nobody_runs_is_told_apart_before_it_gives() {
    let world = World::new(2);
    let before = world.open("before").await;
    count(&before).await.unwrap();
    before.take(0, 5).await.unwrap();
    before.stop().await;
    let copy = beside(&world);
    // The original goes on where it was, and the copy is another run of it: both are at the same version.
    let (first, second) = (world.open("original").await, copy.open("copy").await);
    let loads = tokio::spawn(counts(Arc::clone(&world.clock), Arc::clone(&first), Duration::from_millis(10)));
    let beside = counts(Arc::clone(&world.clock), Arc::clone(&second), Duration::from_millis(10)).await;
    let given = loads.await.unwrap();
    let twice = beside.iter().filter(|number| given.contains(number)).count();
    assert_eq!(twice, 0, "of {} and {}", given.len(), beside.len());
    assert!(is_behind(&first), "the copy is another run, and met its shards later");
    let later = counts(Arc::clone(&world.clock), Arc::clone(&second), Duration::from_millis(10)).await;
    assert!(is_behind(&second) && later.is_empty(), "{} after the objection", later.len());
}

#[tokio::test(start_paused = true)]
async fn numbers_of_stores_that_forget_never_repeat_beside_a_copy_of_the_ledger() {
    for seed in 1..=8 {
        let world = World::of(Kind { class: DurabilityClass::Volatile, seed, ..Kind::default() });
        let first = world.open("original").await;
        first.take(0, 5).await.unwrap();
        let second = beside(&world).open("copy").await;
        let loads = tokio::spawn(takes(Arc::clone(&world.clock), Arc::clone(&first)));
        let beside = tokio::spawn(takes(Arc::clone(&world.clock), Arc::clone(&second)));
        for at in 1..=40 {
            tokio::time::sleep(Duration::from_millis(100 * seed)).await;
            world.stores[at % 2].empty();
        }
        let (given, beside) = (loads.await.unwrap(), beside.await.unwrap());
        assert!(given + beside > 0);
        assert!(is_behind(&first) && is_behind(&second), "seed {seed}: {given} and {beside}");
    }
}

#[tokio::test(start_paused = true)]
async fn servers_of_one_ledger_that_was_restarted_accuse_nobody() {
    let world = World::new(3);
    let servers = [world.open("a").await, world.open("b").await, world.open("c").await];
    for _ in 0..4 {
        for server in &servers {
            server.take(0, 3).await.unwrap();
            count(server).await.unwrap();
        }
        world.ledger.restart();
        for server in &servers {
            server.heartbeat().await;
        }
    }
    let last = world.open_as("d", Setup::default()).await;
    count(&last).await.unwrap();
    for server in servers.iter().chain([&last]) {
        assert_eq!(server.guard.trouble(), None);
        assert_eq!(server.count(|event| matches!(event, Event::LedgerBehind { .. })), 0);
    }
}
