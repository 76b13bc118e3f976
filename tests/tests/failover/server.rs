//! A server's process at addresses that outlive it, and what it says of itself.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

use hyper::Method;
use sequent_testkit::servers::Port;

use crate::{
    http::Http,
    place::{Place, Ran, Running, eventually},
};

/// `sequent serve` over the ring, with a data directory and ports of its own.
pub(crate) struct Server {
    place: Place,
    config: PathBuf,
    ports: [Port; 4],
    process: Option<Running>,
    /// For how long it serves on when it is drained, from its next start on.
    pub(crate) drain_delay_s: u32,
}

/// What `/metrics` has of slots and numbers.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// The state of each slot.
    pub(crate) states: BTreeMap<usize, String>,
    /// Numbers ready in memory.
    pub(crate) reserve: u64,
    text: String,
}

impl Server {
    /// Started, and ready.
    pub(crate) fn start(config: &str) -> Self {
        let mut server = Self::placed(config);
        server.restart();
        server
    }

    /// The same, unless it refuses to serve: then how it ended.
    #[allow(dead_code, reason = "the tests of stores do")]
    pub(crate) fn try_start(config: &str) -> Result<Self, Ran> {
        let mut server = Self::placed(config);
        let process = server.launch();
        let is_up = tokio::task::block_in_place(|| {
            eventually("a server serves or ends", || {
                let says_where = process.out().contains('\n');
                (says_where || !process.runs()).then_some(says_where)
            })
        });
        if !is_up {
            return Err(tokio::task::block_in_place(|| process.wait()));
        }
        server.process = Some(process);
        Ok(server)
    }

    fn placed(config: &str) -> Self {
        let place = Place::new();
        let file = place.path("sequent.toml");
        std::fs::write(&file, config).unwrap();
        let ports = std::array::from_fn(|_| Port::reserve());
        Self { place, config: file, ports, process: None, drain_delay_s: 0 }
    }

    /// Started at the same addresses, and ready.
    pub(crate) fn restart(&mut self) {
        let process = self.launch();
        tokio::task::block_in_place(|| {
            process.until("a server says where it is", |process| process.out().contains('\n').then_some(()));
        });
        self.process = Some(process);
    }

    fn launch(&self) -> Running {
        let [grpc, http, redis, admin] = [self.grpc(), self.http(), self.redis(), self.admin()];
        let config = self.config.display().to_string();
        let data = self.place.data().display().to_string();
        let mut args = vec!["serve", "--json", "--config", &config, "--data", &data];
        let settings = [
            format!("listen.grpc={grpc}"),
            format!("listen.http={http}"),
            format!("listen.redis={redis}"),
            format!("listen.admin={admin}"),
            format!("limits.drain_delay_s={}", self.drain_delay_s),
        ];
        for setting in &settings {
            args.extend(["--set", setting]);
        }
        self.place.start(&args)
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        let process = self.process.take().expect("it runs");
        tokio::task::block_in_place(|| process.kill());
    }

    /// Sends it a signal: `STOP`, `CONT`.
    #[allow(dead_code, reason = "the tests of stores do")]
    pub(crate) fn signal(&self, name: &str) {
        self.process.as_ref().expect("it runs").signal(name);
    }

    /// Drains it; its exit code.
    pub(crate) fn drain(&mut self) -> Option<i32> {
        let process = self.process.take()?;
        process.signal("TERM");
        tokio::task::block_in_place(|| process.wait()).code
    }

    /// Loses its data directory.
    #[allow(dead_code, reason = "the tests of stores do")]
    pub(crate) fn forget(&self) {
        std::fs::remove_dir_all(self.place.data()).unwrap();
    }

    /// Another command on its cluster, as an operator gives it.
    pub(crate) fn operate(&self, args: &[&str]) -> Ran {
        let (config, data) = (self.config.display().to_string(), self.place.data().display().to_string());
        let args = [args, &["--config", &config, "--data", &data]].concat();
        tokio::task::block_in_place(|| self.place.run(&args))
    }

    pub(crate) fn grpc(&self) -> SocketAddr {
        self.ports[0].address()
    }

    pub(crate) fn http(&self) -> SocketAddr {
        self.ports[1].address()
    }

    pub(crate) fn redis(&self) -> SocketAddr {
        self.ports[2].address()
    }

    fn admin(&self) -> SocketAddr {
        self.ports[3].address()
    }

    /// What it has logged since it was started.
    pub(crate) fn log(&self) -> String {
        self.process.as_ref().map_or_else(String::new, Running::err)
    }

    /// What it logged of why it took a slot out of use the last time.
    pub(crate) fn evicted_for(&self, slot: usize) -> String {
        let is_it = |line: &&str| line.contains("slot evicted") && line.contains(&format!("slot={slot} "));
        self.log().lines().rfind(is_it).unwrap_or("never").to_owned()
    }

    /// What it knows without asking any store.
    pub(crate) async fn look(&self) -> Look {
        Look::of(self.ask("/metrics").await)
    }

    /// A page of the admin listener.
    pub(crate) async fn ask(&self, path: &str) -> String {
        let mut http = Http::connect(self.admin()).await.unwrap();
        let answer = http.ask(Method::GET, path).await.unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }
}

impl Look {
    fn of(text: String) -> Self {
        let mut look = Self { reserve: 0, states: BTreeMap::new(), text };
        look.reserve = look.sum("sequent_reserve_numbers");
        for line in look.text.lines().filter(|line| line.starts_with("sequent_slot_state{")) {
            let label = |name: &str| {
                let (_, rest) = line.split_once(&format!("{name}=\"")).unwrap();
                rest.split('"').next().unwrap().to_owned()
            };
            if line.ends_with(" 1") {
                look.states.insert(label("slot").parse().unwrap(), label("state"));
            }
        }
        look
    }

    /// The sum of all series of a metric.
    pub(crate) fn sum(&self, metric: &str) -> u64 {
        let is_it = |line: &&str| line.strip_prefix(metric).is_some_and(|rest| rest.starts_with(['{', ' ']));
        let value = |line: &str| line.rsplit(' ').next()?.parse::<f64>().ok();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts of a test are small"
        )]
        self.text.lines().filter(is_it).filter_map(value).map(|value| value as u64).sum()
    }

    /// One series, by its name and labels as they are shown; 0 where there is none.
    #[allow(dead_code, reason = "the tests of stores, which share this file, look at single series")]
    pub(crate) fn at(&self, series: &str) -> u64 {
        let found = self.text.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok());
        found.unwrap_or(0)
    }

    /// Requests that an API answered with an error, by reason. But for leases that were late, or that the SDK hung up on as they
    /// were: it has asked another server by then, and how long its callers waited is in the journal.
    pub(crate) fn failed_requests(&self) -> Vec<String> {
        let failed = |line: &&str| {
            let is = |label: &str, value: &str| line.contains(&format!("{label}=\"{value}\""));
            let is_late = is("reason", "DEADLINE_EXCEEDED") || is("reason", "CANCELLED");
            let is_late_lease = is("method", "lease") && is_late;
            line.starts_with("sequent_requests_total{")
                && !is("reason", "OK")
                && !is_late_lease
                && !line.ends_with(" 0")
        };
        self.text.lines().filter(failed).map(str::to_owned).collect()
    }

    /// Whether a slot serves.
    pub(crate) fn is_live(&self, slot: usize) -> bool {
        self.states.get(&slot).is_some_and(|state| state == "live")
    }
}
