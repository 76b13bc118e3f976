//! Callers: by HTTP at each server, and by the SDK from leases and fresh. This process is the SDK's host: it shows the SDK's
//! metrics as a page, as any program with a recorder for Prometheus does.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use metrics_exporter_prometheus::PrometheusBuilder;
use sequent_client::{Client, Sequence};

use crate::{http, server::Server};

/// Between two requests of a caller: enough for rates, little for two cores.
const PAUSE: Duration = Duration::from_millis(10);

/// How long a call may take: as long as the server gives it.
const DEADLINE: Duration = Duration::from_secs(10);

/// The first so many faults are kept.
const FAULTS_MAX: usize = 10;

/// Callers, until dropped.
pub(crate) struct Load {
    ends: Arc<AtomicBool>,
    faults: Arc<Mutex<Vec<String>>>,
    metrics: SocketAddr,
}

impl Load {
    /// Begins to ask.
    pub(crate) async fn start(servers: &[Server]) -> Self {
        // Before the client is made: it tells the recorder what its metrics mean.
        let recorder = PrometheusBuilder::new().install_recorder().unwrap();
        let metrics = http::serve(move |_, _| recorder.render());
        let load = Self { ends: Arc::default(), faults: Arc::default(), metrics };
        let endpoints: Vec<String> =
            servers.iter().map(|server| format!("http://{}", server.address("grpc"))).collect();
        let client = Client::connect(&endpoints.join(",")).await.unwrap();
        tokio::spawn(Self::by_sdk(client.sequence("order").unwrap().deadline(DEADLINE), load.told()));
        for server in servers {
            let (api, told) = (server.address("http"), load.told());
            tokio::task::spawn_blocking(move || Self::by_http(api, &told));
        }
        load
    }

    /// Where the SDK's metrics are.
    pub(crate) fn metrics(&self) -> SocketAddr {
        self.metrics
    }

    /// What went wrong.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.faults.lock().unwrap().clone()
    }

    fn told(&self) -> Told {
        Told { ends: Arc::clone(&self.ends), faults: Arc::clone(&self.faults) }
    }

    async fn by_sdk(orders: Sequence, told: Told) {
        while !told.ends() {
            told.tell(orders.next().await.map_err(|error| error.to_string()));
            told.tell(orders.next_fresh().await.map_err(|error| error.to_string()));
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn by_http(api: SocketAddr, told: &Told) {
        while !told.ends() {
            told.tell(http::ask(api, "POST", "/v1/sequences/order/next?count=2"));
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}

/// When a caller stops, and where it says what went wrong.
struct Told {
    ends: Arc<AtomicBool>,
    faults: Arc<Mutex<Vec<String>>>,
}

impl Told {
    fn ends(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    fn tell<T>(&self, outcome: Result<T, String>) {
        let Err(fault) = outcome else { return };
        let mut faults = self.faults.lock().unwrap();
        if faults.len() < FAULTS_MAX && !self.ends() {
            faults.push(fault);
        }
    }
}
