//! What a key costs in memory, in use and idle: the second half of goal S11.
//!
//! Counted is what this process's allocator has handed out and not got back, before and after: exact, and without the
//! caches of SQLite, which is C. Stores and ledger are files, as in production they are elsewhere; what is counted is
//! what a server keeps for a key. Idle keys are made so by stepping the clock, not by waiting.

use std::{
    alloc::System,
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use sequent_core::{Clock, Env, SequenceName, SystemClock};
use sequent_engine::{
    Engine, Options,
    config::{Config, Sources},
};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const HELP: &str = "\
Bytes that a server keeps for a key, in use and idle.

  cargo bench -p sequent-benches --bench idle_keys -- --keys 20000 --place /dev/shm

--keys N (100 to 1000000, default 20000), --place DIR (default /dev/shm: the files are no part of what is measured),
--json, --help. Each key's first number costs a few durable writes, so a place in memory saves time.";

/// The goal for an idle key.
const GOAL: f64 = 256.0;

/// How far the clock is stepped: past the age at which a key is given up.
const STEP: Duration = Duration::from_secs(601);

/// How long the engine may take to give up what is idle: it looks every 30 seconds, and its keeper every two.
const PATIENCE: Duration = Duration::from_secs(90);

/// The machine's clock, stepped forward.
#[derive(Debug, Default)]
struct Stepped(Mutex<Duration>);

impl Stepped {
    fn ahead(&self) -> Duration {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for Stepped {
    fn now(&self) -> Instant {
        SystemClock.now() + self.ahead()
    }

    fn wall(&self) -> SystemTime {
        SystemClock.wall() + self.ahead()
    }
}

struct Plan {
    keys: u32,
    place: PathBuf,
    json: bool,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if args.iter().any(|arg| arg == "--help") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let done = parse(args).and_then(|plan| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.map_err(|error| format!("no runtime: {error}"))?.block_on(run(&plan))
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("idle_keys: {text}");
            ExitCode::from(2)
        }
    }
}

fn parse(args: Vec<String>) -> Result<Plan, String> {
    let mut plan = Plan { keys: 20_000, place: "/dev/shm".into(), json: false };
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => plan.json = true,
            "--place" => plan.place = args.next().unwrap_or_default().into(),
            "--keys" => {
                let value = args.next().unwrap_or_default();
                let keys = value.parse().ok().filter(|keys| (100..=1_000_000).contains(keys));
                plan.keys = keys.ok_or(format!("--keys is {value:?}: 100 to 1000000 are allowed"))?;
            }
            _ => return Err(format!("{arg:?} is unknown: --help says what there is")),
        }
    }
    Ok(plan)
}

/// What is allocated now, in bytes.
#[allow(clippy::cast_precision_loss, reason = "bytes of a process are far below 2^52")]
fn held() -> f64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated) as f64
}

async fn run(plan: &Plan) -> Result<(), String> {
    let place =
        tempfile::tempdir_in(&plan.place).map_err(|error| format!("{}: {error}", plan.place.display()))?;
    let config =
        Config::load(&Sources::embedded(place.path().join("data"))).map_err(|faults| faults.to_string())?;
    let clock = Arc::new(Stepped::default());
    let env = Env { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Env::default() };
    let engine = Engine::open(config, Options { env, ..Options::default() })
        .await
        .map_err(|error| error.to_string())?;
    // Connections, pools, the first pages.
    take(&engine, "warm", 4).await?;
    let before = held();
    for key in 0..plan.keys {
        take(&engine, &format!("key-{key:07}"), 4).await?;
    }
    let (each, live) = (f64::from(plan.keys), held());
    *clock.0.lock().unwrap_or_else(PoisonError::into_inner) = STEP;
    let mut waited = Duration::ZERO;
    while engine.live_keys() > 0 && waited < PATIENCE {
        tokio::time::sleep(Duration::from_secs(1)).await;
        waited += Duration::from_secs(1);
    }
    // The keeper reports what was taken, and then forgets the counters.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let left = engine.live_keys();
    let idle = held();
    engine.shutdown().await;
    if left > 0 {
        return Err(format!("{left} keys were not given up within {PATIENCE:?}"));
    }
    let (live, idle) = ((live - before) / each, (idle - before) / each);
    let reached = idle <= GOAL;
    if plan.json {
        println!(
            "{}",
            serde_json::json!({ "keys": plan.keys, "bytes_live": live, "bytes_idle": idle, "goal": GOAL, "reached": reached })
        );
    } else {
        println!("{} keys: {live:.0} bytes a key in use, {idle:.0} bytes an idle one", plan.keys);
        println!(
            "goal: at most {GOAL:.0} bytes an idle key: {}",
            if reached { "reached" } else { "not reached" }
        );
    }
    Ok(())
}

async fn take(engine: &Engine, name: &str, count: u64) -> Result<(), String> {
    let name: SequenceName = name.parse().map_err(|error| format!("{error}"))?;
    let deadline = SystemClock.now() + Duration::from_secs(60);
    engine.take(&name, count, deadline).await.map(drop).map_err(|error| error.to_string())
}
