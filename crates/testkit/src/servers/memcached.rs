//! memcached, which forgets everything whenever it ends.

use std::{ops::Range, process::Command, time::Duration};

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

/// The most bytes of an item that only fills it.
const FILLED_BYTES_MAX: usize = 400;

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

    /// Writes items of somebody else's with these numbers, of all sizes up to 400 bytes in turn: enough of them evict what was
    /// not in use lately. They go by themselves within minutes.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub async fn fill(&self, items: Range<u32>) {
        let filled = timeout(ANSWER_LIMIT, fill(self.port(), items.clone())).await;
        let filled = filled.unwrap_or_else(|_| panic!("{items:?} items: not within {ANSWER_LIMIT:?}"));
        filled.unwrap_or_else(|error| panic!("{items:?} items: {error}"));
    }
}

/// Quiet writes, and one command that answers once all of them are done.
async fn fill(port: u16, items: Range<u32>) -> std::io::Result<()> {
    let (mut stream, mut writes) = (TcpStream::connect(("127.0.0.1", port)).await?, String::new());
    for item in items {
        let bytes = 1 + item as usize % FILLED_BYTES_MAX;
        let item = format!("ms foreign-{item} {bytes} q T300\r\n{}\r\n", "x".repeat(bytes));
        writes.push_str(&item);
    }
    stream.write_all((writes + "mn\r\n").as_bytes()).await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"MN\r\n") {
        answer.push(stream.read_u8().await?);
    }
    Ok(())
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
