//! What the listener of Redis allocates: nothing for a number that is ready, and no more than its bound for replies that
//! nobody reads. The whole heap of the process is counted, so the tests run one at a time.

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
    net::{SocketAddr, TcpStream},
    thread,
    time::Duration,
};

use server::Server;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Held by each test while it runs.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

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
    let _alone = ALONE.lock().await;
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

/// Connections whose replies nobody reads.
const SILENT: usize = 8;

/// What each of them may occupy: 1 MiB of replies, and less than half as much for buffers.
const SILENT_BYTES_MAX: usize = 3 << 19;

/// Bytes of the heap that are in use.
fn used() -> usize {
    let stats = HEAP.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// Pipelines of commands with long replies. Returns how many bytes each takes once the server has stopped.
fn leave_unread(to: SocketAddr) -> usize {
    let pipeline = b"*2\r\n$7\r\nCOMMAND\r\n$4\r\nDOCS\r\n".repeat(4000);
    let before = used();
    let sockets = [(); SILENT].map(|()| {
        let mut socket = TcpStream::connect(to).unwrap();
        socket.write_all(&pipeline).unwrap();
        socket
    });
    let (mut most, mut same) = (0, 0);
    while same < 20 {
        thread::sleep(Duration::from_millis(50));
        let now = used();
        same = if now > most { 0 } else { same + 1 };
        most = most.max(now);
    }
    drop(sockets);
    (most - before) / SILENT
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_that_nobody_reads_occupy_no_more_than_is_allowed() {
    let _alone = ALONE.lock().await;
    let server = Server::start().await;
    let to = server.redis;
    let each = tokio::task::spawn_blocking(move || leave_unread(to)).await.unwrap();
    println!("{each} bytes each");
    assert!(each > 1 << 20, "{each} bytes each: the server has not come to its bound");
    assert!(each < SILENT_BYTES_MAX, "{each} bytes each");
}
