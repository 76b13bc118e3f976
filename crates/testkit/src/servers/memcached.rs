//! memcached, which forgets everything whenever it ends.

use std::{process::Command, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::{
    engine::{Engine, Place, Signal, says},
    program::Program,
    server::Server,
};

/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

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
        // One that wants a login says so.
        says(port, b"version\r\n", &[b"VERSION", b"CLIENT_ERROR"]).await
    }
}

impl Server<MemcachedServer> {
    /// Where it is.
    pub fn url(&self) -> String {
        format!("memcached://{}", self.address())
    }

    /// Sends a command, without its last line's end, and returns the first line of the answer; of `stats` all lines.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub async fn ask(&self, command: &str) -> String {
        let answer = timeout(ANSWER_LIMIT, ask(self.port(), command)).await;
        let answer = answer.unwrap_or_else(|_| panic!("{command}: no answer within {ANSWER_LIMIT:?}"));
        answer.unwrap_or_else(|error| panic!("{command}: {error}"))
    }
}

async fn ask(port: u16, command: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(format!("{command}\r\n").as_bytes()).await?;
    let (mut answer, end) = (Vec::new(), if command.starts_with("stats") { "END\r\n" } else { "\r\n" });
    while !answer.ends_with(end.as_bytes()) {
        answer.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&answer).trim_end().to_owned())
}
