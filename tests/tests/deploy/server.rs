//! `sequent serve` in a folder of its own, on free ports.

use std::{net::SocketAddr, sync::Arc};

use crate::{
    http,
    place::{Place, Ran, Running},
};

/// A server that serves; killed when it is dropped.
pub(crate) struct Server {
    _process: Running,
    place: Arc<Place>,
    config: Option<String>,
    addresses: serde_json::Value,
}

impl Server {
    /// Over the embedded cluster, or as a configuration says.
    pub(crate) fn start(config: Option<&str>) -> Self {
        let place = Arc::new(Place::new());
        let config = config.map(|text| {
            let file = place.path("sequent.toml");
            std::fs::write(&file, text).unwrap();
            file.display().to_string()
        });
        Self::at(place, config)
    }

    /// Another one beside it, over the same cluster.
    pub(crate) fn another(&self) -> Self {
        Self::at(Arc::clone(&self.place), self.config.clone())
    }

    fn at(place: Arc<Place>, config: Option<String>) -> Self {
        let data = place.data().display().to_string();
        let mut args = vec!["serve", "--json", "--data", &data];
        args.extend(config.iter().flat_map(|file| ["--config", file]));
        let free = ["grpc", "http", "redis", "admin"].map(|api| format!("listen.{api}=127.0.0.1:0"));
        args.extend(free.iter().flat_map(|setting| ["--set", setting]));
        let process = place.start(&args);
        let addresses =
            process.until("a server says where it is", |process| serde_json::from_str(&process.out()).ok());
        Self { _process: process, place, config, addresses }
    }

    /// The address of an API: `grpc`, `http`, `redis` or `admin`.
    pub(crate) fn address(&self, api: &str) -> SocketAddr {
        self.addresses[api].as_str().unwrap().parse().unwrap()
    }

    /// What `/metrics` says.
    pub(crate) fn metrics(&self) -> String {
        http::ask(self.address("admin"), "GET", "/metrics").unwrap()
    }

    /// When it told last that this happened to a slot, in seconds since 1970 and as it says itself.
    pub(crate) fn told(&self, slot: u64, names: &[&str]) -> Option<(String, f64)> {
        let status = http::ask(self.address("admin"), "GET", "/v1/status").ok()?;
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        // The newest first.
        let mut events = status["events"].as_array().unwrap().iter();
        let is_it = |event: &&serde_json::Value| {
            event["slot"] == slot && names.iter().any(|name| event["name"] == *name)
        };
        let event = events.find(is_it)?;
        Some((event["name"].as_str().unwrap().to_owned(), event["at_ms"].as_f64().unwrap() / 1e3))
    }

    /// So many numbers by HTTP.
    pub(crate) fn take(&self, count: usize) -> Result<String, String> {
        http::ask(self.address("http"), "POST", &format!("/v1/sequences/order/next?count={count}"))
    }

    /// A command on its cluster that goes on.
    pub(crate) fn beside(&self, args: &[&str]) -> Running {
        let data = self.place.data().display().to_string();
        self.place.start(&[args, &["--data", &data]].concat())
    }

    /// A command on its cluster.
    pub(crate) fn operate(&self, args: &[&str]) -> Ran {
        let data = self.place.data().display().to_string();
        let config: Vec<&str> = self.config.iter().flat_map(|file| ["--config", file]).collect();
        self.place.run(&[args, &["--data", &data], &config].concat())
    }
}
