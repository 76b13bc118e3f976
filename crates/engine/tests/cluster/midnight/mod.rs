//! Ten servers' worth of callers over the end of a period, with clocks that differ by two seconds and go on while callers
//! are in flight.

mod clocks;
mod given;
mod zones;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use sequent_core::{Clock, Env, SystemClock};
use sequent_engine::{Engine, Issued, NextRequest, Options, Texts, Timestamp};
use tokio::task::JoinSet;

use super::Place;
use clocks::{Clocks, Dial};
use given::Given;

/// How many servers there are, each with a clock of its own.
const SERVERS: usize = 10;

/// Who calls each of them, with a counter of its own.
const DESKS: [&str; 2] = ["a", "b"];

/// How many numbers a call asks for.
const BATCH: u64 = 3;

/// How many calls are answered between two steps of the clocks.
const CALLS_A_STEP: u64 = 20;

/// How long is waited on a machine that is busy with other things: by a caller, and for callers.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long a caller who was refused pauses.
const PAUSE: Duration = Duration::from_millis(10);

/// One end of a period, or several.
struct Case {
    template: &'static str,
    zone: &'static str,
    /// The ends, or other moments that are of interest.
    at: &'static [&'static str],
    /// The periods that must be seen.
    periods: &'static [&'static str],
    seed: u64,
}

struct Server {
    engine: Engine,
    dial: Arc<Dial>,
    /// The latest period of an answer: none that is called for later may be before it.
    latest: Mutex<String>,
}

/// What all callers share.
struct Scene {
    given: Given,
    answers: AtomicU64,
    is_over: AtomicBool,
}

async fn servers(place: &Place, clocks: &Clocks) -> Vec<Arc<Server>> {
    let mut servers = Vec::new();
    for dial in &clocks.dials {
        let env = Env { clock: Arc::clone(dial) as Arc<dyn Clock>, ..Env::default() };
        let engine = Engine::open(place.config(), Options { env, ..Options::default() }).await.unwrap();
        let (dial, latest) = (Arc::clone(dial), Mutex::default());
        servers.push(Arc::new(Server { engine, dial, latest }));
    }
    servers
}

/// Moves the counters of the periods apart, so that a number tells whose it is.
async fn move_apart(place: &Place, given: &Given, ends: &[u64]) {
    let engine = place.open().await.unwrap();
    for desk in DESKS {
        for micros in [ends[0] - 1].iter().chain(ends) {
            let at = Timestamp::from_microsecond(i64::try_from(*micros).unwrap()).unwrap();
            let base = given.base(&given.period(micros / 1000, desk));
            let key = NextRequest::new("order").unwrap().with("desk", desk).at(at.to_string());
            if base > 0 {
                begin_above(&engine, &key, base).await;
            }
        }
    }
    engine.shutdown().await;
}

/// Moves a key forward, as `sequent advance` does.
async fn begin_above(engine: &Engine, request: &NextRequest, to: u64) {
    let (key, body) = engine.key_of(request).await.unwrap();
    let (layout, span) = (engine.cluster().layout(), body.span());
    let place = (to - span.start()) / span.step();
    let floors: Vec<u64> = (0..layout.slots()).map(|slot| layout.raw_behind(place, slot)).collect();
    engine.guard().advance(&key, span.raw_max(layout), &floors).await.unwrap();
    engine.note_advanced(&key, to).await.unwrap();
}

/// A batch, and the instants that the caller's clock allows. A machine that is busy may be late: that costs numbers, and
/// repeats none.
async fn call(server: &Server, desk: &str) -> (Issued, (u64, u64)) {
    let ask = NextRequest::new("order").unwrap().with("desk", desk).count(BATCH);
    let until = SystemClock.now() + PATIENCE;
    loop {
        let glance = server.dial.glance();
        match server.engine.next(&ask.clone().deadline(until)).await {
            Ok(issued) => return (issued, server.dial.since(&glance)),
            Err(error) => {
                let may_try = error.reason().retry().is_retryable() && SystemClock.now() < until;
                assert!(may_try, "{error}: {:?}", error.detail());
                println!("{desk}: {error}: {:?}", error.detail());
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Calls again and again, until the clocks have come to their end.
async fn callers(server: Arc<Server>, desk: &'static str, scene: Arc<Scene>) {
    while !scene.is_over.load(Ordering::Acquire) {
        let before = server.latest.lock().unwrap().clone();
        let (issued, allowed) = call(&server, desk).await;
        let period = scene.given.take(desk, issued, allowed);
        assert!(before <= period, "{period} was left for {before}, and is opened again");
        {
            let mut latest = server.latest.lock().unwrap();
            *latest = std::mem::take(&mut *latest).max(period);
        }
        scene.answers.fetch_add(1, Ordering::AcqRel);
    }
}

/// Moves the clocks over each end, as far at a time as there are answers meanwhile.
async fn move_clocks(clocks: &Clocks, ends: &[u64], scene: &Scene) {
    for end in ends {
        clocks.approach(*end);
        while clocks.step(*end) {
            let enough = scene.answers.load(Ordering::Acquire) + CALLS_A_STEP;
            let answered = async {
                while scene.answers.load(Ordering::Acquire) < enough {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(PATIENCE, answered).await.expect("answers");
        }
    }
}

async fn over(case: Case) {
    let Case { template, zone, at, periods, seed } = case;
    let text = format!("[[sequence]]\nname = \"order\"\ntemplate = '{template}'\nzone = \"{zone}\"\n");
    let place = Place::with(&text);
    let micros = |at: &&str| u64::try_from(at.parse::<Timestamp>().unwrap().as_microsecond()).unwrap();
    let ends: Vec<u64> = at.iter().map(micros).collect();
    let texts = Texts::new(template).zone(zone).proven().unwrap();
    let given = Given::new(texts.format().unwrap().clone(), periods);
    move_apart(&place, &given, &ends).await;
    let clocks = Clocks::new(SERVERS, ends[0], sequent_testkit::seeded(seed));
    let servers = servers(&place, &clocks).await;
    let scene = Arc::new(Scene { given, answers: AtomicU64::new(0), is_over: AtomicBool::new(false) });
    let mut tasks = JoinSet::new();
    for (server, desk) in servers.iter().flat_map(|server| DESKS.map(|desk| (server, desk))) {
        tasks.spawn(callers(Arc::clone(server), desk, Arc::clone(&scene)));
    }
    tokio::select! {
        () = move_clocks(&clocks, &ends, &scene) => {}
        ended = tasks.join_next() => panic!("a caller ended: {ended:?}"),
    }
    scene.is_over.store(true, Ordering::Release);
    tasks.join_all().await;
    scene.given.check();
    for server in servers {
        server.engine.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_midnight() {
    over(Case {
        template: "@{date,yyyyMMdd}@{ctx,desk,len=1}@{seq,w=5}",
        zone: "Asia/Shanghai",
        at: &["2025-12-31T16:00:00Z"],
        periods: &["20251231", "20260101"],
        seed: 1,
    })
    .await;
}

/// The hour before, the one that clocks show twice, which is one period, and the hour after.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_the_hour_that_is_shown_twice() {
    over(Case {
        template: "@{date,yyyyMMddHH}@{ctx,desk,len=1}@{seq,w=5,reset=hour}",
        zone: "America/New_York",
        at: &["2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z", "2026-11-01T07:00:00Z"],
        periods: &["2026110100", "2026110101", "2026110102"],
        seed: 2,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_fiscal_years_end() {
    over(Case {
        template: "INV/@{date,FS-FE,fy=04-01}/@{ctx,desk,len=1}/@{seq,w=6}",
        zone: "Asia/Kolkata",
        at: &["2026-03-31T18:30:00Z"],
        periods: &["FY2026", "FY2027"],
        seed: 3,
    })
    .await;
}
