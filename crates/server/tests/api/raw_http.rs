//! HTTP/1.1 by hand, for requests that no library would send.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A response.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Said {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        let json = self.json();
        let numbers = json["numbers"].as_array().unwrap();
        numbers.iter().map(|number| number.as_str().unwrap().parse().unwrap()).collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

pub(crate) async fn post(to: SocketAddr, path: &str, body: &str) -> Said {
    send(to, "POST", path, body.as_bytes()).await
}

pub(crate) async fn get(to: SocketAddr, path: &str) -> Said {
    send(to, "GET", path, b"").await
}

pub(crate) async fn send(to: SocketAddr, method: &str, path: &str, body: &[u8]) -> Said {
    let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{kind}content-length: {}\r\n\r\n",
        body.len()
    );
    raw(to, &[head.as_bytes(), body].concat()).await
}

/// Sends raw bytes, and reads until the connection is closed.
pub(crate) async fn raw(to: SocketAddr, bytes: &[u8]) -> Said {
    let mut socket = TcpStream::connect(to).await.unwrap();
    let (mut reader, mut writer) = socket.split();
    let write = async {
        // The server may respond and close before it has read everything.
        drop(writer.write_all(bytes).await);
        drop(writer.flush().await);
    };
    let mut answer = Vec::new();
    let read = async { drop(reader.read_to_end(&mut answer).await) };
    tokio::join!(write, read);
    let text = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Said { status, head: head.to_owned(), body: body.to_owned() }
}
