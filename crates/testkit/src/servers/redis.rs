//! Redis, as it comes: snapshots now and then, no log. `appendonly` and `appendfsync` are settings.

use std::process::Command;

use super::{
    engine::{Engine, Place, Signal, says},
    program::Program,
    server::Server,
};

/// A Redis server.
pub type Redis = Server<RedisServer>;

/// Redis's program.
#[derive(Debug)]
pub struct RedisServer;

impl Engine for RedisServer {
    const NAME: &'static str = "redis";
    const PROGRAM: Program = Program { name: "redis-server", package: "redis-server", folders: &[] };
    const ACCOUNT: &'static str = "redis";
    const STOP: Signal = Signal::TERM;
    const HAS_TEMPLATE: bool = false;

    async fn create(_place: &Place<'_>) {}

    fn command(place: &Place<'_>) -> Command {
        let mut server = place.command(&Self::PROGRAM.path());
        server.args(["--bind", "127.0.0.1", "--port", &place.port.to_string()]);
        server.arg("--dir").arg(place.data());
        for (name, value) in place.settings {
            server.arg(format!("--{name}")).arg(value);
        }
        server
    }

    /// While it loads its data it refuses (`-LOADING`).
    async fn answers(port: u16) -> bool {
        says(port, b"PING\r\n", &[b"+PONG", b"-NOAUTH"]).await
    }
}

impl Server<RedisServer> {
    /// Its first database.
    pub fn url(&self) -> String {
        format!("redis://{}/0", self.address())
    }
}
