//! Ten servers' worth of callers over the end of a period, with clocks that differ by two seconds.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use sequent_core::{Clock, Env, SystemClock};
use sequent_engine::{Engine, NextRequest, Options, Texts, Timestamp};

use super::Place;

/// How many servers there are, each with a clock of its own.
const SERVERS: usize = 10;

/// A counter that begins anew gives one of its first numbers, whoever is served first. One that went on would be further.
const FIRST_MAX: u64 = 60;

/// A clock whose wall shows what a test says.
#[derive(Debug)]
struct Dial(AtomicU64);

impl Clock for Dial {
    fn now(&self) -> Instant {
        SystemClock.now()
    }

    fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

impl Dial {
    fn set(&self, ms: u64) {
        self.0.store(ms, Ordering::Relaxed);
    }
}

/// One end of a period.
struct Case {
    template: &'static str,
    zone: &'static str,
    /// The end, or another moment that is of interest.
    at: &'static str,
    /// The periods that must be seen.
    periods: &'static [&'static str],
}

struct Server {
    engine: Engine,
    clock: Arc<Dial>,
    /// By how much its clock is behind.
    behind_ms: u64,
}

async fn servers(place: &Place, at_ms: u64) -> Vec<Server> {
    let mut servers = Vec::new();
    for index in 0..SERVERS {
        let behind_ms = 2000 * index as u64 / (SERVERS as u64 - 1);
        let clock = Arc::new(Dial(AtomicU64::new(at_ms - behind_ms)));
        let env = Env { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Env::default() };
        let engine = Engine::open(place.config(), Options { env, ..Options::default() }).await.unwrap();
        servers.push(Server { engine, clock, behind_ms });
    }
    servers
}

/// What was given: numbers by period, and all texts.
#[derive(Default)]
struct Given {
    numbers: BTreeMap<(String, &'static str), BTreeSet<u64>>,
    texts: BTreeSet<String>,
    count: usize,
}

async fn over(case: Case) {
    let Case { template, zone, at, periods } = case;
    let text = format!("[[sequence]]\nname = \"order\"\ntemplate = '{template}'\nzone = \"{zone}\"\n");
    let place = Place::with(&text);
    let end = u64::try_from(at.parse::<Timestamp>().unwrap().as_millisecond()).unwrap();
    let texts = Texts::new(template).zone(zone).proven().unwrap();
    let format = texts.format().unwrap();
    let servers = servers(&place, end - 1500).await;
    let mut given = Given::default();
    for step in 0..11 {
        let mut asks = tokio::task::JoinSet::new();
        for (server, desk) in (0..SERVERS).flat_map(|server| ["a", "b"].map(|desk| (server, desk))) {
            let Server { engine, clock, behind_ms } = &servers[server];
            clock.set(end - 1500 + step * 500 - behind_ms);
            let engine = engine.clone();
            asks.spawn(async move {
                let ask = NextRequest::new("order").unwrap().with("desk", desk).count(3);
                // A machine that is busy may be late: that costs numbers, and repeats none.
                let issued = loop {
                    match engine.next(&ask).await {
                        Ok(issued) => break issued,
                        Err(error) => assert!(error.reason().retry().is_retryable(), "{error}"),
                    }
                };
                (desk, issued)
            });
        }
        while let Some(asked) = asks.join_next().await {
            let (desk, issued) = asked.unwrap();
            let dated = issued.dated.unwrap();
            for (number, text) in issued.numbers.numbers().zip(dated.texts) {
                let parsed = format.invert(&text).unwrap();
                assert_eq!(
                    (parsed.number, parsed.period.as_deref()),
                    (number, Some(&*dated.period)),
                    "{text}"
                );
                let key = (dated.period.clone(), desk);
                assert!(given.numbers.entry(key).or_default().insert(number), "{text}: number twice");
                assert!(given.texts.insert(text.clone()), "{text} twice");
                given.count += 1;
            }
        }
    }
    assert_eq!(given.count, 11 * SERVERS * 2 * 3);
    let seen: BTreeSet<&str> = given.numbers.keys().map(|(period, _)| period.as_str()).collect();
    assert_eq!(seen, periods.iter().copied().collect(), "{at}");
    for ((period, desk), numbers) in &given.numbers {
        assert!(numbers.first().is_some_and(|first| *first <= FIRST_MAX), "{period} {desk} begins anew");
    }
    for server in servers {
        server.engine.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_midnight() {
    over(Case {
        template: "@{date,yyyyMMdd}@{ctx,desk,len=1}@{seq,w=5}",
        zone: "Asia/Shanghai",
        at: "2025-12-31T16:00:00Z",
        periods: &["20251231", "20260101"],
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_the_hour_that_is_shown_twice() {
    over(Case {
        template: "@{date,yyyyMMddHH}@{ctx,desk,len=1}@{seq,w=5,reset=hour}",
        zone: "America/New_York",
        at: "2026-11-01T06:00:00Z",
        periods: &["2026110101"],
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_fiscal_years_end() {
    over(Case {
        template: "INV/@{date,FS-FE,fy=04-01}/@{ctx,desk,len=1}/@{seq,w=6}",
        zone: "Asia/Kolkata",
        at: "2026-03-31T18:30:00Z",
        periods: &["FY2026", "FY2027"],
    })
    .await;
}
