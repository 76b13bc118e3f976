//! A ring on MariaDB and two servers over it: started, looked at, waited for.

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    http::Http,
    journal::Journal,
    ring::Ring,
    server::{Look, Server},
};

/// Between two looks.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long anything may take that has no bound of its own.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A slot comes back within two seconds, and little is kept ready, so that the stores are asked all the time. A counter
/// that began a new epoch is ahead of the others by what its ceiling was ahead, and rests until they come up to it: little.
pub(crate) const SETTINGS: &str = "
[ring]
shard_bits = 2
memory_bits = 0
rescue_after_max_s = 2
[reservoir]
at_risk_max = 512
[limits]
lease_max_count = 200
[[sequence]]
name = \"order\"
";

/// Two servers over a ring.
pub(crate) struct Harness {
    // First: the servers go before their stores.
    pub(crate) servers: [Server; 2],
    pub(crate) ring: Ring,
    /// Every number that anybody was given, from the first on.
    pub(crate) journal: Arc<Journal>,
    _folder: TempDir,
}

impl Harness {
    /// Everything started, every slot live; `settings` come before the shards in the configuration.
    pub(crate) async fn start(settings: &str) -> Self {
        Self::start_under(settings, 1).await
    }

    /// The same, with for how long numbers go on while the ledger is away, in seconds.
    pub(crate) async fn start_under(settings: &str, outage_s: u32) -> Self {
        let ring = Ring::start().await;
        let folder = tempfile::tempdir().unwrap();
        let config = ring.config(folder.path(), settings, outage_s);
        let servers = [Server::start(&config), Server::start(&config)];
        let harness = Self { servers, ring, journal: Arc::default(), _folder: folder };
        harness.warm().await;
        harness.all_live().await;
        harness
    }

    /// What an SDK is told.
    pub(crate) fn urls(&self) -> String {
        format!("http://{},http://{}", self.servers[0].grpc(), self.servers[1].grpc())
    }

    /// The first takes, which open epochs, and give each store something to remember.
    async fn warm(&self) {
        for server in &self.servers {
            let mut http = Http::connect(server.http()).await.unwrap();
            for _ in 0..20 {
                // Whether they come is not what is tested: the first start of all, on a busy machine.
                self.journal.bits.add("warm", http.next(200).await.unwrap_or_default());
            }
        }
    }

    /// Both servers have every slot in use.
    pub(crate) async fn all_live(&self) {
        let live = |look: &Look| (0..4).all(|slot| look.is_live(slot));
        let are = self.both(PATIENCE, live).await.is_some();
        let looks = self.looks().await;
        assert!(are, "not all slots are live after {PATIENCE:?}: {looks:?}");
    }

    /// Waits until both servers say so; how long that took, unless it was too long.
    pub(crate) async fn both(&self, within: Duration, ask: impl Fn(&Look) -> bool) -> Option<Duration> {
        let begun = Instant::now();
        until(within, async || self.looks().await.iter().all(&ask)).await.then(|| begun.elapsed())
    }

    /// What both servers say now.
    pub(crate) async fn looks(&self) -> [Look; 2] {
        let (first, second) = tokio::join!(self.servers[0].look(), self.servers[1].look());
        [first, second]
    }
}

/// Asks until it is so, or until the time is over; one more time then.
pub(crate) async fn until<F: Future<Output = bool>>(within: Duration, mut ask: impl FnMut() -> F) -> bool {
    let end = Instant::now() + within;
    loop {
        let over = Instant::now() >= end;
        if ask().await {
            return true;
        }
        if over {
            return false;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
