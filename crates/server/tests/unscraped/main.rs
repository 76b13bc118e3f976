//! That a server which nobody scrapes stays as small as it was. Alone in its process: the whole heap is counted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

#[path = "../doors/server.rs"]
#[allow(dead_code, reason = "shared with the other tests of this room")]
mod server;
#[path = "../doors/wire.rs"]
#[allow(dead_code, reason = "shared with the other tests of this room")]
mod wire;

use std::alloc::System;

use server::Server;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Requests sent at once.
const ROUND: usize = 100;

/// Rounds before the heap is looked at: every series has been met, and what waits to be drained is a small part of it.
const WARM_UP: usize = 20;

/// Rounds after it: what is never drained comes to several times [`GROWTH_MAX`].
const DAY: usize = 300;

/// How much larger the heap may be.
const GROWTH_MAX: f64 = 1.05;

/// How many more rounds it may take until the last samples are drained, a pause between two: drains go by the clock.
const LOOKS_MAX: usize = 200;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

const ASK: &str = "POST /v1/sequences/order/next HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";
const GIVEN: &[u8] = b"HTTP/1.1 200 ";

/// Bytes of the heap in use.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn held() -> f64 {
    let stats = HEAP.stats();
    (stats.bytes_allocated - stats.bytes_deallocated) as f64
}

/// Asks [`ROUND`] times, and reads that many answers.
async fn round(line: &mut TcpStream, answers: &mut [u8]) {
    line.write_all(ASK.repeat(ROUND).as_bytes()).await.unwrap();
    let (mut given, mut kept) = (0, 0);
    while given < ROUND {
        let read = line.read(&mut answers[kept..]).await.unwrap();
        assert!(read > 0, "hung up after {given} answers");
        let seen = kept + read;
        given += answers[..seen].windows(GIVEN.len()).filter(|window| *window == GIVEN).count();
        // The beginning of an answer may have arrived alone; a whole one is not counted again.
        kept = seen.min(GIVEN.len() - 1);
        answers.copy_within(seen - kept..seen, 0);
    }
}

#[tokio::test]
async fn a_day_of_requests_that_nobody_looks_at_costs_no_memory() {
    let server = Server::start().await;
    let mut line = TcpStream::connect(server.http).await.unwrap();
    let mut answers = vec![0; 1 << 16];
    for _ in 0..WARM_UP {
        round(&mut line, &mut answers).await;
    }
    let before = held();
    for _ in 0..DAY {
        round(&mut line, &mut answers).await;
    }
    let undrained = held();
    let mut looks = 0;
    while held() > before * GROWTH_MAX {
        assert!(
            looks < LOOKS_MAX,
            "{before} bytes after {} requests, {undrained} after {} more, and then still {}",
            WARM_UP * ROUND,
            DAY * ROUND,
            held()
        );
        tokio::time::sleep(PAUSE).await;
        round(&mut line, &mut answers).await;
        looks += 1;
    }
    println!("{before} bytes, {undrained} after {} requests, {} after {looks} looks", DAY * ROUND, held());
}
