//! A day of a server: requests of every kind, evictions and rescues, and pauses in which only its timers run. Time is
//! paused between the requests.

use std::{fmt::Write, sync::Arc, time::Duration};

use sequent_core::{
    Env,
    ledger::{SlotCommand, SlotVerb},
};
use sequent_engine::Options;
use sequent_proto::v1::{LeaseRequest, NextRequest, sequences_client::SequencesClient};
use sequent_testkit::PausedClock;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tonic::transport::Channel;

use crate::{raw_http, server::Server};

/// How long the server is left alone between two rounds of requests.
const STEP_S: u64 = 60;

/// Sequences asked one per step. There are more than have series of their own, and each is idle long enough to be
/// dropped.
const NAMED: u64 = 60;

/// After this time everything is as before.
pub(crate) const CYCLE_S: u64 = NAMED * STEP_S;

/// How long a command of an operator takes to be obeyed.
const OBEYED_S: u64 = 5;

/// Requests by HTTP and gRPC; `{n}` is a different number each time.
const ASKED: [(&str, &str); 9] = [
    ("order/next", ""),
    ("order/next?count=50", ""),
    ("short/next?count=20", ""),
    ("dense/next", ""),
    ("dated/next", r#"{"values": {"area": "010"}}"#),
    ("order/next?count=0", ""),
    ("unheard-{n}/next", ""),
    ("order/next?no-{n}=1", ""),
    ("order/next", r#"{"above": "9000000000000000000"}"#),
];

/// Rounds of requests per step. `SEQUENT_DAY_ROUNDS` raises it.
fn rounds() -> u64 {
    std::env::var("SEQUENT_DAY_ROUNDS").map_or(1, |said| said.parse().expect("a number"))
}

/// A server under requests.
pub(crate) struct Day {
    server: Server,
    grpc: SequencesClient<Channel>,
    step: u64,
    asked: u64,
}

impl Day {
    pub(crate) async fn begin() -> Self {
        let env = Env { clock: Arc::new(PausedClock::new()), ..Env::default() };
        let server = Server::of(&config(), &[], Options { env, ..Options::default() }).await;
        let grpc = server.client().await;
        Self { server, grpc, step: 0, asked: 0 }
    }

    /// How many requests were made.
    pub(crate) fn asked(&self) -> u64 {
        self.asked
    }

    /// Lets seconds pass with requests.
    pub(crate) async fn pass(&mut self, seconds: u64) {
        for _ in 0..seconds / STEP_S {
            if self.step.is_multiple_of(NAMED) {
                self.put_out_and_in().await;
            }
            for _ in 0..rounds() {
                self.ask().await;
            }
            alone(STEP_S).await;
            self.step += 1;
        }
    }

    /// Sends requests by HTTP on one connection, which idles until it is closed, and by gRPC on one that lasts.
    async fn ask(&mut self) {
        let mut asks = String::new();
        let mine = [(format!("n{}/next", self.step % NAMED), "")];
        let asked = ASKED.iter().map(|(what, body)| (what.replace("{n}", &self.asked.to_string()), *body));
        let asked: Vec<_> = asked.chain(mine).collect();
        for (what, body) in &asked {
            let bytes = body.len();
            let head = format!(
                "POST /v1/sequences/{what} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {bytes}\r\n\r\n"
            );
            write!(asks, "{head}{body}").unwrap();
        }
        asks.push_str("GET /v1/sequences/order HTTP/1.1\r\nhost: localhost\r\n\r\n");
        answered(&self.server, &asks, asked.len() + 1).await;
        for (sequence, count) in [("order", 1), ("order", 0), ("short", 20), ("nowhere", 1)] {
            let request =
                NextRequest { sequence: sequence.to_owned(), count: Some(count), ..Default::default() };
            drop(self.grpc.next(request).await);
        }
        for count in [200, 0] {
            let request = LeaseRequest { sequence: "order".to_owned(), count, ..Default::default() };
            drop(self.grpc.lease(request).await);
        }
        self.asked += asked.len() as u64 + 7;
    }

    /// Evicts all slots for a while, then rescues them.
    async fn put_out_and_in(&mut self) {
        for verb in [SlotVerb::Evict, SlotVerb::Rescue] {
            for slot in 0..2 {
                let (who, why) = ("test".to_owned(), "to see".to_owned());
                let word = SlotCommand { slot, verb, who, why, at_ms: 0, until_ms: None };
                self.server.engine.cluster().ledger.say(&word).await.unwrap();
            }
            alone(OBEYED_S).await;
            if verb == SlotVerb::Evict {
                self.ask().await;
            }
        }
    }

    /// Checks that all timers ran, and that the events listed here happened.
    pub(crate) async fn was_a_day(&self, seconds: u64) {
        let shown = raw_http::get(self.server.admin, "/metrics").await.body;
        let sum = |series: &str| -> f64 {
            let lines = shown.lines().filter_map(|line| line.strip_prefix(series)?.rsplit(' ').next());
            lines.map(|value| value.parse::<f64>().unwrap()).sum()
        };
        let steps = seconds / STEP_S;
        let at_least = |series: &str, least: u64| {
            #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
            let least = least as f64;
            assert!(sum(series) >= least, "{series} {}, and not {least}\n{shown}", sum(series));
        };
        // Every two seconds, or a little later if the machine is busy.
        at_least(r#"sequent_ledger_calls_total{call="heartbeat",outcome="ok"}"#, seconds * 9 / 20);
        for api in ["http", "grpc"] {
            for reason in ["OK", "INVALID_ARGUMENT", "SEQUENCE_NOT_FOUND", "SEQUENCE_EXHAUSTED"] {
                let series =
                    format!(r#"sequent_requests_total{{api="{api}",method="next",reason="{reason}"}}"#);
                at_least(&series, steps * 9 / 10);
            }
        }
        at_least(r#"sequent_requests_total{api="grpc",method="lease",reason="OK"}"#, steps * 9 / 10);
        at_least(r#"sequent_numbers_issued_total{api="http",method="next",path="dense"}"#, steps * 9 / 10);
        at_least(
            r#"sequent_requests_total{api="http",method="next",reason="CLUSTER_BEHIND"}"#,
            steps * 9 / 10,
        );
        let cycles = seconds / CYCLE_S;
        at_least(r#"sequent_requests_total{api="http",method="next",reason="NO_SHARD_AVAILABLE"}"#, cycles);
        at_least(r#"sequent_slot_evictions_total{slot="1",kind="command"}"#, cycles);
        at_least(r#"sequent_slot_rescues_total{slot="1"}"#, cycles);
    }
}

/// Sends requests in one write, and reads as many responses.
async fn answered(server: &Server, asks: &str, count: usize) {
    const ANSWER: &[u8] = b"HTTP/1.1 ";
    let mut line = TcpStream::connect(server.http).await.unwrap();
    line.write_all(asks.as_bytes()).await.unwrap();
    let (mut seen, mut piece) = (Vec::new(), [0; 4096]);
    while seen.windows(ANSWER.len()).filter(|window| *window == ANSWER).count() < count {
        let read = line.read(&mut piece).await.unwrap();
        assert!(read > 0, "hung up after {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&piece[..read]);
    }
}

/// Lets seconds pass without requests, at once except for what the timers do.
async fn alone(seconds: u64) {
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

fn config() -> String {
    let named = (0..NAMED).fold(String::new(), |mut named, at| {
        writeln!(named, r#"    {{ name = "n{at}", version = 1 }},"#).unwrap();
        named
    });
    format!(
        r#"
cluster = "test"
ring = {{ shard_bits = 1, allow_volatile = true }}
ledger = {{ store = "memory" }}
shard = [{{ slot = 0, store = "memory" }}, {{ slot = 1, store = "memory" }}]
sequence = [
{named}
    {{ name = "order", version = 1 }},
    {{ name = "short", version = 1, end = 1000, placement = "spread" }},
    {{ name = "dense", version = 1, placement = "dense" }},
    {{ name = "dated", version = 1, template = "@{{date,yyyyMMdd}}@{{ctx,area,len=3}}@{{seq,w=6}}" }},
]
limits = {{ drain_delay_s = 0, drain_timeout_s = 5 }}
"#
    )
}
