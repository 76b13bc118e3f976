//! memcached, which forgets everything whenever it ends.

use std::process::Command;

use super::{
    engine::{Engine, Place, Signal, says},
    program::Program,
    server::Server,
};

/// A memcached server.
pub type Memcached = Server<MemcachedServer>;

/// memcached's program.
#[derive(Debug)]
pub struct MemcachedServer;

impl Engine for MemcachedServer {
    const NAME: &'static str = "memcached";
    const PROGRAM: Program = Program { name: "memcached", package: "memcached", folders: &[] };
    const ACCOUNT: &'static str = "memcache";
    const STOP: Signal = Signal::TERM;
    const HAS_TEMPLATE: bool = false;

    async fn create(_place: &Place<'_>) {}

    /// Its settings are its long options; one with an empty value is a switch.
    fn command(place: &Place<'_>) -> Command {
        let mut server = place.command(&Self::PROGRAM.path());
        server.args(["--listen=127.0.0.1", "--udp-port=0", "--threads=2", "--memory-limit=16"]);
        server.arg(format!("--port={}", place.port));
        for (name, value) in place.settings {
            let equals = if value.is_empty() { "" } else { "=" };
            server.arg(format!("--{name}{equals}{value}"));
        }
        server
    }

    async fn answers(port: u16) -> bool {
        says(port, b"version\r\n", &[b"VERSION"]).await
    }
}
