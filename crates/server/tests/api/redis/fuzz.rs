//! Random conversations: whatever is sent, replies are frames of the protocol, each number is given once and only to a
//! command that asked for it, and others are served.

use std::{collections::BTreeSet, time::Duration};

use redis_protocol::{resp2, resp3};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use super::{Client, PATIENCE};
use crate::Server;

/// How long it runs unless `SEQUENT_FUZZ_SECONDS` says otherwise.
const SECONDS: u64 = 4;

/// How many pieces are whole requests.
const REQUESTS: usize = 29;

/// After so many conversations another client is served.
const OTHERS_EVERY: u64 = 16;

/// Pieces of conversations, whole requests first. A reply has integers of its own only in a map.
const PIECES: [&[u8]; 40] = [
    b"*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n",
    b"*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n",
    b"*3\r\n$6\r\nINCRBY\r\n$5\r\norder\r\n$1\r\n1\r\n",
    b"*3\r\n$6\r\nINCRBY\r\n$5\r\norder\r\n$1\r\n7\r\n",
    b"INCR order\r\n",
    b"incr \"or\\x64er\"\n",
    b"INCR oder\r\n",
    b"PING\r\n",
    b"*2\r\n$4\r\nECHO\r\n$4\r\n\r\n+\x00\r\n",
    b"HELLO 2\r\n",
    b"HELLO 3\r\n",
    b"*4\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$1\r\na\r\n",
    b"AUTH default secret\r\n",
    b"*2\r\n$8\r\nSEQ.NEXT\r\n$5\r\norder\r\n",
    b"*4\r\n$8\r\nSEQ.NEXT\r\n$5\r\norder\r\n$5\r\nCOUNT\r\n$2\r\n70\r\n",
    b"SEQ.NEXT order WITH a\r\n",
    b"SEQ.SHOW order\r\n",
    b"SEQ.DEFINE order step 2\r\n",
    b"*1\r\n$5\r\nMULTI\r\n",
    b"*1\r\n$4\r\nEXEC\r\n",
    b"DISCARD\r\n",
    b"RESET\r\n",
    b"GET order\r\n",
    b"SET order 7\r\n",
    b"NONSENSE a b\r\n",
    b"SELECT 1\r\n",
    b"\r\n",
    b"*0\r\n",
    b"*-1\r\n",
    b"*2\r\n$4\r\nINCR\r\n",
    b"$5\r\norder\r\n",
    b"*1\r\n$70000\r\n",
    b"*1\r\n*1\r\n$4\r\nPING\r\n",
    b"*99999999999999999999\r\n",
    b"*2\r\n$4\r\nINCR\r\n$-5\r\norder\r\n",
    b"*2\r\n$4\r\nINCR\r\n$9223372036854775807\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"INCR 'order\r\n",
    b"POST / HTTP/1.1\r\n",
];

/// Random numbers from a seed (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }

    /// What a peer sends: mostly requests. Half of the conversations are damaged, in up to six places.
    fn conversation(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..=self.below(40) {
            let known = if self.below(16) == 0 { PIECES.len() } else { REQUESTS };
            bytes.extend_from_slice(PIECES[self.below(known)]);
        }
        for _ in 0..self.below(12).saturating_sub(5) {
            if bytes.len() < 2 {
                break;
            }
            let at = self.below(bytes.len());
            match self.below(4) {
                0 => bytes[at] = self.next().to_le_bytes()[0],
                1 => drop(bytes.remove(at)),
                2 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, b"*$\r\n-09\0"[self.below(8)]),
            }
        }
        bytes
    }
}

/// The heads of maps, which are arrays in RESP2: that of `HELLO`, and that of `SEQ.SHOW`. Their integers are no numbers of a
/// sequence.
const MAPS: [&[u8]; 2] = [b"$6\r\nserver\r\n", b"$5\r\nas_of\r\n"];

/// How many frames an array has, and the length of its head.
fn array_head(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = bytes.windows(2).position(|end| end == b"\r\n")?;
    let count = std::str::from_utf8(bytes[..end].strip_prefix(b"*")?).ok()?;
    Some((count.parse().ok()?, end + 2))
}

/// The integers of the first frame but those of maps, and its length; `None` for half a frame.
///
/// Arrays are taken apart here: `HELLO` may change the version in the middle of a transaction.
fn first_frame(bytes: &[u8], found: &mut Vec<i64>) -> Result<Option<usize>, String> {
    if let Some((count, head)) = array_head(bytes) {
        let (mut own, mut at) = (Vec::new(), head);
        for _ in 0..count {
            match first_frame(&bytes[at..], &mut own)? {
                Some(length) => at += length,
                None => return Ok(None),
            }
        }
        if !MAPS.iter().any(|map| bytes[head..].starts_with(map)) {
            found.append(&mut own);
        }
        return Ok(Some(at));
    }
    if let Ok(frame) = resp2::decode::decode(bytes) {
        return Ok(frame.map(|(frame, length)| {
            found.extend(if let resp2::types::OwnedFrame::Integer(number) = frame {
                Some(number)
            } else {
                None
            });
            length
        }));
    }
    let frame = resp3::decode::complete::decode(bytes).map_err(|error| error.to_string())?;
    Ok(frame.map(|(frame, length)| {
        found.extend(if let resp3::types::OwnedFrame::Number { data, .. } = frame {
            Some(data)
        } else {
            None
        });
        length
    }))
}

/// The numbers in replies, each of which must be a frame.
fn numbers(said: &[u8], sent: &[u8]) -> Vec<i64> {
    let (mut rest, mut found) = (said, Vec::new());
    while !rest.is_empty() {
        let length = first_frame(rest, &mut found)
            .unwrap_or_else(|error| panic!("{error}: {} to {}", rest.escape_ascii(), sent.escape_ascii()));
        let Some(length) = length else {
            panic!("half a frame: {} to {}", rest.escape_ascii(), sent.escape_ascii())
        };
        rest = &rest[length..];
    }
    found
}

/// How many numbers of all sequences were given.
async fn issued(server: &Server) -> u64 {
    server.engine.status().await.keys.iter().map(|key| key.given).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::disallowed_methods, reason = "how long to go on")]
async fn whatever_is_sent_replies_are_frames_and_numbers_are_given_once() {
    let number =
        |name: &str, other: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(other);
    let (seconds, seed) = (number("SEQUENT_FUZZ_SECONDS", SECONDS), number("SEQUENT_FIRST_SEED", 20_261_126));
    println!("seed {seed} (SEQUENT_FIRST_SEED), {seconds} s (SEQUENT_FUZZ_SECONDS)");
    let server = Server::start().await;
    let (begin, before) = (std::time::Instant::now(), issued(&server).await);
    let (mut known, mut given, mut round) = (BTreeSet::new(), 0, 0);
    while begin.elapsed() < Duration::from_secs(seconds) || round < 50 {
        let mut random = Random(seed + round);
        round += 1;
        let sent = random.conversation();
        let client = Client::to(&server).await;
        let (mut reader, mut writer) = client.socket.into_split();
        let piece = 1 + random.below(sent.len());
        let bytes = sent.clone();
        let writing = tokio::spawn(async move {
            for piece in bytes.chunks(piece) {
                // The server may have closed.
                if writer.write_all(piece).await.is_err() {
                    break;
                }
            }
            drop(writer.shutdown().await);
        });
        let mut said = Vec::new();
        let read = timeout(PATIENCE, reader.read_to_end(&mut said)).await;
        read.unwrap_or_else(|_| panic!("no end within {PATIENCE:?}: {}", sent.escape_ascii()))
            .unwrap_or_else(|error| panic!("{error}: {}", sent.escape_ascii()));
        writing.await.unwrap();
        for number in numbers(&said, &sent) {
            assert!(known.insert(number), "{number} was given twice: {}", sent.escape_ascii());
            given += 1;
        }
        if round % OTHERS_EVERY == 0 {
            let mut other = Client::to(&server).await;
            other.expect_line("PING", "+PONG").await;
        }
    }
    println!("{round} conversations, {given} numbers");
    assert!(given > 100);
    assert_eq!(issued(&server).await - before, given, "numbers that nobody got");
    let mut other = Client::to(&server).await;
    other.expect_line("INCR order", ":").await;
}
