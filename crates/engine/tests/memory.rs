//! What partitions of one sequence cost in memory, in use and idle, counted at the allocator: a program of its own, since
//! whatever else ran in it would be counted, too.
//!
//! Stores and ledger are in memory here, and their rows are counted with the rest; the bench `idle_keys` counts what a
//! server keeps alone, against the goal.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    alloc::System,
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use sequent_core::{Clock, Env};
use sequent_engine::{
    Engine, NextRequest, Options,
    config::{Config, Sources},
};
use sequent_testkit::PausedClock;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::task::JoinSet;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CONFIG: &str = "[ring]\nshard_bits = 1\nallow_volatile = true\n[ledger]\nstore = \"memory\"\n\
    [[shard]]\nslot = 0\nstore = \"memory\"\n[[shard]]\nslot = 1\nstore = \"memory\"\n\
    [limits]\nkeys_per_sequence_max = 1048576\n[[sequence]]\nname = \"repair\"\ntemplate = \"@{ctx,shop,len=6}-@{seq,w=5}\"\n";

/// Partitions of the test command; `SEQUENT_PARTITIONS` says how many there are before a release.
const PARTITIONS: usize = 10_000;

/// How many partitions are asked for at the same time.
const AT_ONCE: usize = 16;

/// The most bytes that a partition may cost in use: its two slots, and their rows in stores and ledger.
const LIVE_MAX: usize = 8192;

/// The most bytes that an idle one may cost: 256 of the server, and those rows.
const IDLE_MAX: usize = 256 + 1024;

/// How long a caller waits, in time that passes by itself; and within what time all partitions are given up.
const PATIENCE: Duration = Duration::from_secs(120);
const IDLE_WITHIN: Duration = Duration::from_secs(1200);

/// What is allocated now, in bytes.
fn held() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

/// The number that a partition's next caller gets, with the text that it must have.
async fn next(engine: &Engine, partition: usize, clock: &dyn Clock) -> u64 {
    let request = NextRequest::new("repair").unwrap().with("shop", format!("{partition:06}"));
    let issued = engine.next(&request.deadline(clock.now() + PATIENCE)).await.unwrap();
    let number = issued.numbers.numbers().next().unwrap();
    assert_eq!(issued.dated.unwrap().texts, [format!("{partition:06}-{number:05}")]);
    number
}

async fn opened(clock: &Arc<PausedClock>) -> Engine {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sequent.toml");
    std::fs::write(&file, CONFIG).unwrap();
    let config = Config::load(&Sources::embedded(folder.path().join("data")).file(file)).unwrap();
    let env = Env { clock: Arc::clone(clock) as Arc<dyn Clock>, ..Env::default() };
    Engine::open(config, Options { env, ..Options::default() }).await.unwrap()
}

/// Asks each of some partitions once; returns what they gave.
async fn fill(
    engine: &Engine,
    partitions: std::ops::Range<usize>,
    clock: &Arc<PausedClock>,
) -> BTreeMap<usize, u64> {
    let (mut callers, given) = (JoinSet::new(), Arc::new(Mutex::new(BTreeMap::new())));
    for caller in 0..AT_ONCE {
        let (engine, clock, given) = (engine.clone(), Arc::clone(clock), Arc::clone(&given));
        let mine = partitions.clone().skip(caller).step_by(AT_ONCE);
        callers.spawn(async move {
            for partition in mine {
                let number = next(&engine, partition, &*clock).await;
                given.lock().unwrap().insert(partition, number);
            }
        });
    }
    callers.join_all().await;
    std::mem::take(&mut *given.lock().unwrap())
}

#[tokio::test(start_paused = true)]
async fn partitions_are_live_by_ten_thousands_within_a_bound_of_memory_each() {
    let said = std::env::var("SEQUENT_PARTITIONS").ok().and_then(|text| text.parse().ok());
    let partitions: usize = said.unwrap_or(PARTITIONS);
    let clock = Arc::new(PausedClock::new());
    let engine = opened(&clock).await;
    // Tables, pools, the first of everything.
    fill(&engine, partitions..partitions + AT_ONCE, &clock).await;
    let before = held();
    let first = fill(&engine, 0..partitions, &clock).await;
    let counted = first.len() * size_of::<(usize, u64)>() * 2;
    let live = held().saturating_sub(before + counted) / partitions;
    assert_eq!(first.len(), partitions);
    assert_eq!(engine.live_keys(), partitions + AT_ONCE, "all of them are in use");
    // Each has a counter of its own, which goes on.
    for partition in (0..partitions).step_by(partitions.div_ceil(1000)) {
        let number = next(&engine, partition, &*clock).await;
        assert_ne!(number, first[&partition], "{partition:06}-{number:05} twice");
    }
    drop(first);
    let until = clock.now() + IDLE_WITHIN;
    while engine.live_keys() > 0 {
        assert!(clock.now() < until, "{} keys are not given up", engine.live_keys());
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    // What was taken is reported, and the counters are forgotten.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let idle = held().saturating_sub(before) / partitions;
    println!("{partitions} partitions: {live} bytes each in use, {idle} idle");
    assert!(live <= LIVE_MAX, "{live} bytes in use: at most {LIVE_MAX} are allowed");
    assert!(idle <= IDLE_MAX, "{idle} bytes idle: at most {IDLE_MAX} are allowed");
    let number = next(&engine, 0, &*clock).await;
    assert!(number > 1, "an idle one goes on");
    engine.shutdown().await;
}
