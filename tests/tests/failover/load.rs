//! Load from the SDK, which knows both servers, and over HTTP on each of them; every request noted.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use sequent_client::{Client, Number, Sequence};
use tokio::{task::JoinSet, time::sleep};

use crate::{
    harness::{Harness, PATIENCE, until},
    http::Http,
    journal::Journal,
};

/// Between two requests of a caller.
const REST: Duration = Duration::from_millis(4);

/// Between two tries of a caller whose server is away on purpose.
const REST_AWAY: Duration = Duration::from_millis(20);

/// The most numbers that the SDK holds of a sequence: few, so that it asks all the time.
const LEASED_MAX: u64 = 400;

/// Numbers of one request.
const COUNT: usize = 40;

/// Callers, until told to stop; on a runtime of their own, so that nobody's proxy waits for them.
pub(crate) struct Load {
    pub(crate) journal: Arc<Journal>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone)]
struct Caller {
    journal: Arc<Journal>,
    stopped: Arc<AtomicBool>,
}

impl Load {
    /// Begins; the second server may be away where `second_dies`: then HTTP on it is no failure.
    pub(crate) fn start(harness: &Harness, second_dies: bool) -> Self {
        let journal = Arc::clone(&harness.journal);
        let stopped = Arc::<AtomicBool>::default();
        let caller = Caller { journal: Arc::clone(&journal), stopped: Arc::clone(&stopped) };
        let urls = harness.urls();
        let apis = [(harness.servers[0].http(), true), (harness.servers[1].http(), !second_dies)];
        let thread = std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(caller.all(&urls, apis));
        });
        Self { journal, stopped, thread: Some(thread) }
    }

    /// So many more numbers: service goes on.
    pub(crate) async fn more(&self, numbers: u64) {
        let bits = &self.journal.bits;
        let goal = bits.count() + numbers;
        assert!(until(PATIENCE, async || bits.count() >= goal).await, "no more numbers come");
    }

    /// Every caller ends with the request that it is in.
    pub(crate) fn stop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            tokio::task::block_in_place(|| thread.join()).unwrap();
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

impl Caller {
    async fn all(self, urls: &str, apis: [(SocketAddr, bool); 2]) {
        let mut callers = JoinSet::new();
        for _ in 0..2 {
            let client = Client::builder().at_risk_max(LEASED_MAX).connect(urls).await.unwrap();
            let orders = client.sequence("order").unwrap();
            callers.spawn(self.clone().leased(orders.clone()));
            callers.spawn(self.clone().many(orders.clone()));
            callers.spawn(self.clone().fresh(orders));
        }
        for (api, is_up) in apis {
            for _ in 0..2 {
                callers.spawn(self.clone().http(api, is_up));
            }
        }
        callers.join_all().await;
    }

    fn goes_on(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }

    async fn leased(self, orders: Sequence) {
        while self.goes_on() {
            let begun = Instant::now();
            let outcome = orders.next().await;
            self.journal.note("next", begun, outcome.map(|number| vec![number.into()]).map_err(text));
            sleep(REST).await;
        }
    }

    async fn many(self, orders: Sequence) {
        while self.goes_on() {
            let begun = Instant::now();
            let outcome = orders.next_many(COUNT).await;
            let numbers = |numbers: Vec<Number>| numbers.into_iter().map(u64::from).collect();
            self.journal.note("next_many", begun, outcome.map(numbers).map_err(text));
            sleep(REST).await;
        }
    }

    async fn fresh(self, orders: Sequence) {
        while self.goes_on() {
            let begun = Instant::now();
            let outcome = orders.next_fresh().await;
            self.journal.note("next_fresh", begun, outcome.map(|number| vec![number.into()]).map_err(text));
            sleep(REST).await;
        }
    }

    async fn http(self, api: SocketAddr, is_up: bool) {
        let mut http = None;
        while self.goes_on() {
            let begun = Instant::now();
            let outcome = Self::ask(&mut http, api).await;
            if outcome.is_err() {
                http = None;
            }
            match outcome {
                Err(_) if !is_up => sleep(REST_AWAY).await,
                outcome => self.journal.note("http", begun, outcome),
            }
            sleep(REST).await;
        }
    }

    async fn ask(http: &mut Option<Http>, api: SocketAddr) -> Result<Vec<u64>, String> {
        if http.is_none() {
            *http = Some(Http::connect(api).await?);
        }
        http.as_mut().unwrap().next(COUNT).await
    }
}

#[allow(clippy::needless_pass_by_value, reason = "what map_err hands on")]
fn text(error: sequent_client::Error) -> String {
    format!("{} {error}", error.reason())
}
