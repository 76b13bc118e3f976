//! Conversations of clients, byte by byte: what each sends on connect, for a number, a pipeline and a transaction, as it was
//! recorded or as its source has it, and what the server must answer.
//!
//! A line `>` is a request of words, `>>` are bytes; those that follow one another are sent at once. A line `<` is a part
//! of the replies, `<~` any reply that begins with this byte.

use std::{fs, path::Path};

use redis_protocol::resp3::decode::complete::decode;
use tokio::{io::AsyncReadExt, time::timeout};

use super::{Client, PATIENCE, request};
use crate::Server;

/// A step of a conversation.
#[derive(Debug)]
enum Step {
    Comment,
    Sent(Vec<u8>),
    Expected(Vec<u8>),
    AnyReply(u8),
}

fn step(line: &str) -> Step {
    let bytes = |text: &str| text.replace("\\r", "\r").replace("\\n", "\n").into_bytes();
    match line.split_once(' ') {
        Some((">", words)) => Step::Sent(request(&words.split(' ').collect::<Vec<_>>())),
        Some((">>", text)) => Step::Sent(bytes(text)),
        Some(("<", text)) => Step::Expected(bytes(text)),
        Some(("<~", kind)) => Step::AnyReply(kind.as_bytes()[0]),
        _ => Step::Comment,
    }
}

/// What was read of a conversation.
struct Replies<'a> {
    name: &'a str,
    buffer: Vec<u8>,
}

impl Replies<'_> {
    async fn more(&mut self, client: &mut Client) {
        let read = timeout(PATIENCE, client.socket.read_buf(&mut self.buffer)).await;
        let read =
            read.unwrap_or_else(|_| panic!("{}: no more than {}", self.name, self.buffer.escape_ascii()));
        assert_ne!(read.unwrap(), 0, "{}: the end after {}", self.name, self.buffer.escape_ascii());
    }

    /// Expects exactly these bytes.
    async fn expect(&mut self, client: &mut Client, expected: &[u8]) {
        while self.buffer.len() < expected.len() && expected.starts_with(&self.buffer) {
            self.more(client).await;
        }
        let found: Vec<u8> = self.buffer.drain(..expected.len().min(self.buffer.len())).collect();
        assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{}", self.name);
    }

    /// Expects a reply of this kind.
    async fn expect_kind(&mut self, client: &mut Client, kind: u8) {
        let length = loop {
            if let Ok(Some((_, length))) = decode(&self.buffer) {
                break length;
            }
            self.more(client).await;
        };
        let found: Vec<u8> = self.buffer.drain(..length).collect();
        assert_eq!(found[0], kind, "{}: {}", self.name, found.escape_ascii());
    }
}

async fn converse(file: &Path) {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let text = fs::read_to_string(file).unwrap();
    let steps: Vec<Step> = text.lines().map(step).collect();
    let server = Server::with(&[("auto_create", "[\"*\"]")]).await;
    let (mut client, mut replies) = (Client::to(&server).await, Replies { name: &name, buffer: Vec::new() });
    let mut sent = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Comment => {}
            Step::Sent(bytes) => {
                sent.extend_from_slice(bytes);
                if !matches!(steps.get(at + 1), Some(Step::Sent(_))) {
                    client.send(&std::mem::take(&mut sent)).await;
                }
            }
            Step::Expected(bytes) => replies.expect(&mut client, bytes).await,
            Step::AnyReply(kind) => replies.expect_kind(&mut client, *kind).await,
        }
    }
    assert!(replies.buffer.is_empty(), "{name}: more than expected: {}", replies.buffer.escape_ascii());
    let defined = server.engine.cluster().list().await.unwrap();
    let by_reading = defined.iter().find(|held| held.sequence.contains("Booksleeve"));
    assert!(by_reading.is_none(), "{name}: a GET has defined a sequence");
}

#[tokio::test]
async fn each_client_is_answered_as_it_expects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/redis/golden");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 20, "{files:?}");
    for file in files {
        converse(&file).await;
    }
}
