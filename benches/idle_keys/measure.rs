//! Makes keys live and lets them become idle, so many at a time that memory stays bounded, and counts what is left.

use std::{
    io::IsTerminal,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use sequent_core::{Clock, Env, SystemClock};
use sequent_engine::{
    Engine, NextRequest, Options,
    config::{Config, Sources},
};
use tokio::task::JoinSet;

use crate::{clock::Stepped, plan::Plan};

/// The goal for an idle key.
const GOAL: f64 = 256.0;

/// How far the clock is stepped: past the age at which a key is given up.
const STEP: Duration = Duration::from_secs(601);

/// How long the engine may take to give up what is idle: it looks every 30 seconds, and its guard every two.
const LOOKED_WITHIN: Duration = Duration::from_secs(45);

/// How often the clock is stepped for what is in use, at most.
const STEPS_MAX: u32 = 4;

/// How long the guard takes to report what was taken, and to forget the counters.
const REPORTED_AFTER: Duration = Duration::from_secs(5);

/// How long one take may last.
const TAKE_MAX: Duration = Duration::from_secs(60);

/// How many keys are made at the same time.
const CALLERS: u32 = 16;

/// Of the partitions: a template whose values partition the counter.
const PARTITIONED: &str = "[[sequence]]\nname = \"repair\"\ntemplate = \"@{ctx,shop,len=7}-@{seq,w=5}\"\n";

/// What was found.
pub(crate) struct Found {
    keys: u32,
    what: &'static str,
    live: f64,
    idle: f64,
}

impl Found {
    pub(crate) fn print(&self, json: bool) {
        let Self { keys, what, live, idle } = self;
        let reached = *idle <= GOAL;
        if json {
            let found = serde_json::json!({
                "keys": keys, "of": what, "bytes_live": live, "bytes_idle": idle, "goal": GOAL, "reached": reached
            });
            println!("{found}");
            return;
        }
        println!("{keys} {what}: {live:.0} bytes a key in use, {idle:.0} bytes an idle one");
        let reached = if reached { "reached" } else { "not reached" };
        println!("goal: at most {GOAL:.0} bytes an idle key: {reached}");
    }
}

/// Measures; `held` says what is allocated now.
pub(crate) async fn run(plan: &Plan, held: fn() -> f64) -> Result<Found, String> {
    let place =
        tempfile::tempdir_in(&plan.place).map_err(|error| format!("{}: {error}", plan.place.display()))?;
    let mut sources = Sources::embedded(place.path().join("data"));
    if plan.partitions {
        let file = place.path().join("sequent.toml");
        std::fs::write(&file, PARTITIONED).map_err(|error| format!("{}: {error}", file.display()))?;
        sources = sources.file(file);
    }
    let config = Config::load(&sources).map_err(|faults| faults.to_string())?;
    let clock = Arc::new(Stepped::default());
    let env = Env { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Env::default() };
    let engine = Engine::open(config, Options { env, ..Options::default() })
        .await
        .map_err(|error| error.to_string())?;
    let made = measured(plan, held, &engine, &clock).await;
    engine.shutdown().await;
    made
}

async fn measured(
    plan: &Plan,
    held: fn() -> f64,
    engine: &Engine,
    clock: &Arc<Stepped>,
) -> Result<Found, String> {
    // Connections, pools, the first pages.
    take(engine, clock, plan.ask(plan.keys)?).await?;
    let before = held();
    let (done, mut live) = (Arc::new(AtomicU32::new(0)), None);
    let _progress = Progress::of(plan.keys, &done);
    let mut made = 0;
    while made < plan.keys {
        let end = plan.keys.min(made + plan.at_once);
        fill(engine, clock, (plan, made..end), &done).await?;
        live.get_or_insert((held() - before) / f64::from(end - made));
        made = end;
        give_up(engine, clock).await?;
    }
    // What the guard had not reported of the last ones.
    tokio::time::sleep(REPORTED_AFTER).await;
    let idle = (held() - before) / f64::from(plan.keys);
    let what = if plan.partitions { "partitions of one sequence" } else { "keys" };
    Ok(Found { keys: plan.keys, what, live: live.unwrap_or(f64::NAN), idle })
}

/// Lets time pass until no key is in use. A key that was still being refilled at a step is idle from then on, so there is
/// more than one.
async fn give_up(engine: &Engine, clock: &Stepped) -> Result<(), String> {
    for _ in 0..STEPS_MAX {
        clock.step(STEP);
        let until = SystemClock.now() + LOOKED_WITHIN;
        while SystemClock.now() < until {
            if engine.live_keys() == 0 {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
    Err(format!("{} keys were not given up in {STEPS_MAX} times {STEP:?}", engine.live_keys()))
}

async fn fill(
    engine: &Engine,
    clock: &Arc<Stepped>,
    (plan, keys): (&Plan, std::ops::Range<u32>),
    done: &Arc<AtomicU32>,
) -> Result<(), String> {
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let mine = keys.clone().skip(caller as usize).step_by(CALLERS as usize);
        let (engine, clock, done) = (engine.clone(), Arc::clone(clock), Arc::clone(done));
        let plan = plan.clone();
        callers.spawn(async move {
            for key in mine {
                take(&engine, &clock, plan.ask(key)?).await?;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<(), String>(())
        });
    }
    while let Some(ended) = callers.join_next().await {
        ended.map_err(|error| format!("a caller: {error}"))??;
    }
    Ok(())
}

async fn take(engine: &Engine, clock: &Stepped, request: NextRequest) -> Result<(), String> {
    engine.next(&request.deadline(clock.now() + TAKE_MAX)).await.map(drop).map_err(|error| error.to_string())
}

impl Plan {
    /// What is asked of a key, by its place in their row.
    fn ask(&self, key: u32) -> Result<NextRequest, String> {
        let name = if self.partitions { "repair".to_owned() } else { format!("key-{key:07}") };
        let request = NextRequest::new(&name).map_err(|error| error.to_string())?.count(4);
        Ok(if self.partitions { request.with("shop", format!("{key:07}")) } else { request })
    }
}

/// Says how far it has come, until it is dropped.
struct Progress(tokio::task::JoinHandle<()>);

impl Progress {
    fn of(keys: u32, done: &Arc<AtomicU32>) -> Self {
        let done = Arc::clone(done);
        let every = Duration::from_secs(if std::io::stderr().is_terminal() { 1 } else { 10 });
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                eprintln!("idle_keys: {} of {keys} keys made", done.load(Ordering::Relaxed));
            }
        }))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.abort();
    }
}
