//! Attacks by clients that may connect, each beside a legitimate prober. What is asserted does not depend on speed: who is
//! refused and with what, and how often.

mod browsers;
mod connections;
mod frames;
mod lists;
mod proofs;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use sequent_engine::Options;
use tokio::task::JoinHandle;

use crate::{Server, raw_http};

const CONFIG: &str = r#"
cluster = "test"
ring = { shard_bits = 1, allow_volatile = true }
ledger = { store = "memory" }
shard = [{ slot = 0, store = "memory" }, { slot = 1, store = "memory" }]
sequence = [
    { name = "order", version = 1 },
    { name = "few", version = 1, placement = "dense" },
]
limits = { drain_delay_s = 0, drain_timeout_s = 5 }
"#;

/// What a legitimate client asks for: numbers in two ways, one of them from a reservoir, and dense ones.
const PROBES: [&str; 3] =
    ["/v1/sequences/order/next?count=2", "/v1/sequences/order/next", "/v1/sequences/few/next"];

async fn start(flags: &[(&str, &str)]) -> Server {
    Server::of(CONFIG, flags, Options::default()).await
}

/// A client that asks on, each time on a new connection.
struct Prober {
    is_over: Arc<AtomicBool>,
    task: JoinHandle<Vec<(String, u16)>>,
}

impl Prober {
    fn of(server: &Server) -> Self {
        let (is_over, http) = (Arc::new(AtomicBool::new(false)), server.http);
        let over = Arc::clone(&is_over);
        let task = tokio::spawn(async move {
            let mut answers = Vec::new();
            while !over.load(Ordering::Relaxed) {
                for path in PROBES {
                    answers.push((path.to_owned(), raw_http::post(http, path, "").await.status));
                }
            }
            answers
        });
        Self { is_over, task }
    }

    /// Ends the client. Each of its requests was answered with numbers.
    async fn was_served(self) {
        self.was_answered(&[200]).await;
    }

    /// Ends the client. None of its requests was refused for those of others, though on a busy machine some may be late.
    async fn was_not_refused(self) {
        self.was_answered(&[200, 503, 504]).await;
    }

    async fn was_answered(self, good: &[u16]) {
        self.is_over.store(true, Ordering::Relaxed);
        let answers = self.task.await.unwrap();
        let refused: Vec<_> = answers.iter().filter(|(_, status)| !good.contains(status)).collect();
        assert!(refused.is_empty(), "of {} requests: {refused:?}", answers.len());
        assert!(answers.len() >= PROBES.len());
    }
}

/// The sum of the series of a metric whose labels contain a text.
async fn metric(admin: SocketAddr, name: &str, labels: &str) -> f64 {
    let shown = raw_http::get(admin, "/metrics").await.body;
    let of = shown.lines().filter(|line| line.starts_with(&format!("{name}{{")) && line.contains(labels));
    of.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}
