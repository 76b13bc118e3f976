//! `sequent serve` in a folder of its own, on free ports.

use std::net::SocketAddr;

use crate::{
    http,
    place::{Place, Ran, Running},
};

/// A server that serves; killed when it is dropped.
pub(crate) struct Server {
    _process: Running,
    place: Place,
    config: Option<String>,
    addresses: serde_json::Value,
}

impl Server {
    /// Over the embedded cluster, or as a configuration says.
    pub(crate) fn start(config: Option<&str>) -> Self {
        let place = Place::new();
        let config = config.map(|text| {
            let file = place.path("sequent.toml");
            std::fs::write(&file, text).unwrap();
            file.display().to_string()
        });
        let data = place.data().display().to_string();
        let mut args = vec!["serve", "--json", "--data", &data];
        args.extend(config.iter().flat_map(|file| ["--config", file]));
        for door in ["listen.grpc=127.0.0.1:0", "listen.http=127.0.0.1:0", "listen.admin=127.0.0.1:0"] {
            args.extend(["--set", door]);
        }
        let process = place.start(&args);
        let addresses =
            process.until("a server says where it is", |process| serde_json::from_str(&process.out()).ok());
        Self { _process: process, place, config, addresses }
    }

    /// The address of a door: `grpc`, `http` or `admin`.
    pub(crate) fn address(&self, door: &str) -> SocketAddr {
        self.addresses[door].as_str().unwrap().parse().unwrap()
    }

    /// What `/metrics` says.
    pub(crate) fn metrics(&self) -> String {
        http::ask(self.address("admin"), "GET", "/metrics").unwrap()
    }

    /// So many numbers by HTTP.
    pub(crate) fn take(&self, count: usize) -> Result<String, String> {
        http::ask(self.address("http"), "POST", &format!("/v1/sequences/order/next?count={count}"))
    }

    /// A command on its cluster.
    pub(crate) fn operate(&self, args: &[&str]) -> Ran {
        let data = self.place.data().display().to_string();
        let config: Vec<&str> = self.config.iter().flat_map(|file| ["--config", file]).collect();
        self.place.run(&[args, &["--data", &data], &config].concat())
    }
}
