//! Tests of the listener of Redis, byte by byte.

mod bad;
mod commands;
mod drain;
mod fuzz;
mod golden;
mod pipelines;
mod transactions;

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::Server;

/// How long a reply may take: far more than it should, so that only a hang fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection.
pub(crate) struct Client {
    pub(crate) socket: TcpStream,
}

impl Client {
    pub(crate) async fn connect(to: SocketAddr) -> Self {
        Self { socket: TcpStream::connect(to).await.unwrap() }
    }

    pub(crate) async fn to(server: &Server) -> Self {
        Self::connect(server.redis).await
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).await.unwrap();
    }

    /// Sends an inline request, and expects exactly these bytes.
    pub(crate) async fn expect(&mut self, line: &str, expected: &str) {
        self.send(format!("{line}\r\n").as_bytes()).await;
        self.expect_bytes(expected, line).await;
    }

    /// Sends an inline request, and expects a reply that begins with this text: one line.
    pub(crate) async fn expect_line(&mut self, line: &str, expected: &str) -> String {
        self.send(format!("{line}\r\n").as_bytes()).await;
        let said = self.line().await;
        assert!(said.starts_with(expected), "{line}: {said:?}, and not {expected:?}");
        said
    }

    /// Expects exactly these bytes.
    pub(crate) async fn expect_bytes(&mut self, expected: &str, case: &str) {
        let mut said = vec![0; expected.len()];
        let mut read = 0;
        while read < said.len() {
            let more = timeout(PATIENCE, self.socket.read(&mut said[read..])).await;
            let more = more.unwrap_or(Ok(0)).unwrap_or(0);
            if more == 0 || !expected.as_bytes().starts_with(&said[..read + more]) {
                let found = said[..read + more].escape_ascii();
                panic!("{case}:\n{found}\nand not\n{}", expected.escape_default());
            }
            read += more;
        }
    }

    /// One line, without its end.
    pub(crate) async fn line(&mut self) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let byte = timeout(PATIENCE, self.socket.read_u8()).await.expect("a reply in time");
            line.push(byte.unwrap_or_else(|error| panic!("{error} after {}", line.escape_ascii())));
        }
        line.truncate(line.len() - 2);
        String::from_utf8(line).unwrap()
    }

    /// An integer.
    pub(crate) async fn integer(&mut self) -> u64 {
        let line = self.line().await;
        let number = line.strip_prefix(':').and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("{line:?} is no integer"))
    }

    /// Expects that the server has closed, and that nothing else was said.
    pub(crate) async fn expect_end(&mut self, case: &str) {
        let mut rest = Vec::new();
        let read = timeout(PATIENCE, self.socket.read_to_end(&mut rest)).await;
        assert!(read.is_ok(), "{case}: the connection is still open");
        assert!(rest.is_empty(), "{case}: {}", rest.escape_ascii());
    }
}

/// A request as clients send it.
pub(crate) fn request(arguments: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", arguments.len()).into_bytes();
    for argument in arguments {
        bytes.extend_from_slice(format!("${}\r\n{argument}\r\n", argument.len()).as_bytes());
    }
    bytes
}
