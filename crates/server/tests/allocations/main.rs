//! `INCR` of a number that is ready needs no allocation. The whole heap of the process is counted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

#[path = "../api/raw_http.rs"]
#[allow(dead_code, reason = "shared with the other tests of this crate")]
mod raw_http;
#[path = "../api/server.rs"]
#[allow(dead_code, reason = "shared with the other tests of this crate")]
mod server;

use std::{
    alloc::System,
    io::{Read, Write},
    net::TcpStream,
};

use server::Server;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Commands one by one, then pipelines of [`PIPELINE`].
const COMMANDS: usize = 20_000;

const PIPELINE: usize = 100;

/// Refills, heartbeats and metrics allocate now and then: less than once in four commands that come one by one.
const ALLOCATIONS_MAX: usize = COMMANDS / 4;

/// Sends a pipeline, and reads as many lines. Nothing here allocates.
fn ask(socket: &mut TcpStream, pipeline: &[u8], commands: usize, buffer: &mut [u8]) {
    socket.write_all(pipeline).unwrap();
    let mut lines = 0;
    while lines < commands {
        let read = socket.read(buffer).unwrap();
        assert_ne!(read, 0, "the end");
        assert!(!buffer[..read].contains(&b'-'), "an error");
        lines += buffer[..read].split(|byte| *byte == b'\n').count() - 1;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ready_number_by_redis_needs_no_allocation() {
    let server = Server::start().await;
    let to = server.redis;
    let measured = tokio::task::spawn_blocking(move || {
        let (mut socket, mut buffer) = (TcpStream::connect(to).unwrap(), vec![0; 1 << 16]);
        let one = b"*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n".as_slice();
        let many = one.repeat(PIPELINE);
        let mut all = |commands: usize| {
            let before = HEAP.stats().allocations;
            (0..commands).for_each(|_| ask(&mut socket, one, 1, &mut buffer));
            (0..commands / PIPELINE).for_each(|_| ask(&mut socket, &many, PIPELINE, &mut buffer));
            HEAP.stats().allocations - before
        };
        // The first numbers, buffers, and a reservoir that has come to know the demand.
        all(COMMANDS / 2);
        all(COMMANDS)
    });
    let allocations = measured.await.unwrap();
    println!("{allocations} allocations for {} commands", 2 * COMMANDS);
    assert!(allocations < ALLOCATIONS_MAX, "{allocations} allocations for {} commands", 2 * COMMANDS);
}
