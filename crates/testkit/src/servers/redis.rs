//! Redis and Valkey, as they come: snapshots now and then, no log. `appendonly` and `appendfsync` are settings.

use std::{marker::PhantomData, process::Command};

use super::{
    engine::{Engine, Place, Signal, says},
    program::Program,
    server::Server,
    tool,
};

const CLIENT: Program = Program { name: "redis-cli", package: "redis-tools", folders: &[] };

/// A Redis server.
pub type Redis = Server<RedisLike<RedisServer>>;

/// A Valkey server.
pub type Valkey = Server<RedisLike<ValkeyServer>>;

/// A program that is asked, and configured, as Redis is.
#[derive(Debug)]
pub struct RedisLike<P>(PhantomData<P>);

/// Which of them.
pub trait SpeaksRedis: Send + Sync + 'static {
    /// How messages and folders call it.
    const NAME: &'static str;
    /// The program of the server itself.
    const PROGRAM: Program;
}

/// Redis's program.
#[derive(Debug)]
pub struct RedisServer;

/// Valkey's program.
#[derive(Debug)]
pub struct ValkeyServer;

impl SpeaksRedis for RedisServer {
    const NAME: &'static str = "redis";
    const PROGRAM: Program = Program { name: "redis-server", package: "redis-server", folders: &[] };
}

impl SpeaksRedis for ValkeyServer {
    const NAME: &'static str = "valkey";
    const PROGRAM: Program = Program { name: "valkey-server", package: "valkey-server", folders: &[] };
}

impl<P: SpeaksRedis> Engine for RedisLike<P> {
    const NAME: &'static str = P::NAME;
    const PROGRAM: Program = P::PROGRAM;
    /// Their packages name it as they are named.
    const ACCOUNT: &'static str = P::NAME;
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

impl<P: SpeaksRedis> Server<RedisLike<P>> {
    /// Its first database.
    pub fn url(&self) -> String {
        format!("redis://{}/0", self.address())
    }

    /// The same as somebody whom a test has created.
    pub fn url_as(&self, user: &str, password: &str) -> String {
        format!("redis://{user}:{password}@{}/0", self.address())
    }

    /// Runs a command as administrator: what the server says, without the last line's end.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub async fn ask(&self, words: &[&str]) -> String {
        self.try_ask(words).await.unwrap_or_else(|why| panic!("{why}"))
    }

    /// The same, where a failure is of interest: what the client said.
    pub async fn try_ask(&self, words: &[&str]) -> Result<String, String> {
        let mut client = Command::new(CLIENT.path());
        client.args(["-e", "-h", "127.0.0.1", "-p", &self.port().to_string()]);
        // Where the server asks its default user for a password, that is it.
        if let Some(password) = self.setting("requirepass").await {
            client.env("REDISCLI_AUTH", password);
        }
        client.args(words);
        tool::run(client, "").await.map(|said| said.trim_end().to_owned())
    }
}
