//! Load from every API at once: the SDK, curl, h2load; each number noted.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use sequent_client::{Client, Error, Number, Sequence};

use super::bits::Bits;
use crate::server::Server;

/// Numbers between two rests of a caller, so that neither the tests beside it nor the servers starve.
const BURST: usize = 500;

/// A rest.
const REST: Duration = Duration::from_millis(2);

/// The most failures that are kept, to be shown.
const FAILURES_SHOWN: usize = 20;

/// What callers saw.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) bits: Bits,
    failures: Mutex<Vec<String>>,
    stopped: AtomicBool,
}

impl Seen {
    fn failed(&self, who: &str, what: impl std::fmt::Display) {
        let mut failures = self.failures.lock().unwrap();
        if failures.len() < FAILURES_SHOWN {
            failures.push(format!("{who}: {what}"));
        }
    }

    /// The failures of callers that must see none.
    pub(crate) fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap().clone()
    }

    /// Every caller ends with the request that it is in.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn goes_on(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }
}

/// A service on the SDK, knowing both servers: no request of it may fail.
pub(crate) fn sdk(seen: &Arc<Seen>, servers: &[Server]) -> JoinHandle<()> {
    let urls: Vec<String> = servers.iter().map(Server::address).collect();
    let (seen, urls) = (Arc::clone(seen), urls.join(","));
    thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let client = Client::connect(&urls).await.unwrap();
            let orders = client.sequence("order").unwrap();
            tokio::join!(
                leased(&seen, &orders),
                leased(&seen, &orders),
                fresh(&seen, &orders),
                many(&seen, &orders)
            );
        });
    })
}

async fn leased(seen: &Seen, orders: &Sequence) {
    while seen.goes_on() {
        let mut burst = Vec::with_capacity(BURST);
        for _ in 0..BURST {
            note(seen, "next", orders.next().await, &mut burst);
        }
        seen.bits.add("next", burst);
        tokio::time::sleep(REST).await;
    }
}

async fn fresh(seen: &Seen, orders: &Sequence) {
    while seen.goes_on() {
        let mut burst = Vec::new();
        for _ in 0..10 {
            let (a, b) = tokio::join!(orders.next_fresh(), orders.next_fresh());
            note(seen, "next_fresh", a, &mut burst);
            note(seen, "next_fresh", b, &mut burst);
        }
        seen.bits.add("next_fresh", burst);
        tokio::time::sleep(REST).await;
    }
}

async fn many(seen: &Seen, orders: &Sequence) {
    while seen.goes_on() {
        match orders.next_many(BURST).await {
            Ok(numbers) => seen.bits.add("next_many", numbers.into_iter().map(u64::from)),
            Err(error) => seen.failed("next_many", error),
        }
        tokio::time::sleep(REST).await;
    }
}

fn note(seen: &Seen, who: &str, outcome: Result<Number, Error>, burst: &mut Vec<u64>) {
    match outcome {
        Ok(number) => burst.push(number.into()),
        Err(error) => seen.failed(who, error),
    }
}

/// curl on one server's HTTP API; `is_up`: it must not see a failure.
pub(crate) fn curl(seen: &Arc<Seen>, server: &Server, is_up: bool) -> JoinHandle<()> {
    let url = format!("{}/v1/sequences/order/next?count=250", server.http());
    let seen = Arc::clone(seen);
    thread::spawn(move || {
        while seen.goes_on() {
            let ran =
                Command::new("curl").args(["-sS", "--fail", "-m", "5", "-X", "POST", &url]).output().unwrap();
            let answer = serde_json::from_slice::<serde_json::Value>(&ran.stdout);
            match answer {
                Ok(answer) if ran.status.success() => {
                    let numbers = answer["numbers"].as_array().unwrap().iter();
                    seen.bits.add("curl", numbers.map(|number| number.as_str().unwrap().parse().unwrap()));
                }
                _ if is_up => seen.failed("curl", String::from_utf8_lossy(&ran.stderr)),
                _ => thread::sleep(Duration::from_millis(20)),
            }
        }
    })
}

/// h2load on one server's gRPC API: load whose numbers nobody sees. Ended when it is dropped.
pub(crate) struct H2load(Child);

impl H2load {
    pub(crate) fn start(server: &Server, scratch: &Path) -> Self {
        // A message of gRPC: not compressed, seven bytes long, the field 1 of which says "order".
        std::fs::write(scratch, [0, 0, 0, 0, 7, 0x0a, 5, b'o', b'r', b'd', b'e', b'r']).unwrap();
        let mut command = Command::new("h2load");
        command.args(["-n", "100000000", "-c", "2", "-m", "4", "--rps", "200", "-d"]).arg(scratch);
        command.args(["-H", "content-type: application/grpc", "-H", "te: trailers"]);
        command.arg(format!("{}/sequent.v1.Sequences/Next", server.address()));
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Whether it is still at it.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for H2load {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
