//! Callers over HTTP who go on whatever happens, and what they were given.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::{bits::Bits, http::Http, server::Server};

/// Between two looks, and how long anything may take that has no bound of its own.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(60);

/// Numbers of each request: few, so that the stores are asked all the time.
const COUNT: usize = 40;

/// Between two tries of a caller who was refused.
const REST: Duration = Duration::from_millis(20);

/// Numbers after the copy: 10^4, or what `SEQUENT_NUMBERS` asks for, up to 10^5.
pub(crate) fn many() -> u64 {
    let given = std::env::var("SEQUENT_NUMBERS").ok();
    given.map_or(10_000, |count| {
        count.parse::<u64>().expect("SEQUENT_NUMBERS is a number").clamp(10_000, 100_000)
    })
}

/// Waits until it is so.
pub(crate) async fn until(what: &str, mut ask: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !ask().await {
        assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Callers of both servers over HTTP, until told to stop; each number noted, refusals counted.
pub(crate) struct Load {
    pub(crate) bits: Arc<Bits>,
    stopped: Arc<AtomicBool>,
    /// Requests that were refused so far.
    pub(crate) refused: Arc<AtomicU64>,
    callers: JoinSet<()>,
}

impl Load {
    /// Two callers a server, of `order`.
    pub(crate) fn on(servers: &[Server], bits: &Arc<Bits>) -> Self {
        Self::of("order", servers, bits)
    }

    /// Two callers a server.
    pub(crate) fn of(name: &'static str, servers: &[Server], bits: &Arc<Bits>) -> Self {
        let (stopped, refused) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let mut callers = JoinSet::new();
        for door in servers.iter().flat_map(|server| [server.http(); 2]) {
            let (bits, stopped, refused) = (Arc::clone(bits), Arc::clone(&stopped), Arc::clone(&refused));
            callers.spawn(async move {
                let mut http = Http::connect(door).await.unwrap();
                while !stopped.load(Ordering::Relaxed) {
                    if let Ok(numbers) = http.next_of(name, COUNT).await {
                        bits.add("a caller", numbers);
                    } else {
                        refused.fetch_add(1, Ordering::Relaxed);
                        tokio::time::sleep(REST).await;
                    }
                }
            });
        }
        Self { bits: Arc::clone(bits), stopped, refused, callers }
    }

    /// So many more numbers: service goes on.
    pub(crate) async fn more(&self, numbers: u64) {
        let goal = self.bits.count() + numbers;
        until("more numbers", async || self.bits.count() >= goal).await;
    }

    pub(crate) async fn end(self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.callers.join_all().await;
        println!(
            "{} numbers, none twice; {} refusals",
            self.bits.count(),
            self.refused.load(Ordering::Relaxed)
        );
    }
}
