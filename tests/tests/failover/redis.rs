//! Redis clients on two servers over four shards, of which one is killed and comes back: no error reply, and no number twice.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use crate::{
    harness::{Harness, PATIENCE, SETTINGS, until},
    journal::Journal,
    server::Look,
};

/// Commands of a pipeline.
const PIPELINE: usize = 16;

/// Connections to each server.
const CONNECTIONS: usize = 4;

/// Numbers before, between and after the faults.
const STRETCH: u64 = 20_000;

/// Connections that send pipelines until they are told to stop. An error reply panics.
struct Load {
    stopped: Arc<AtomicBool>,
    callers: Vec<JoinHandle<()>>,
}

impl Load {
    fn start(journal: &Arc<Journal>, servers: [SocketAddr; 2]) -> Self {
        let stopped = Arc::<AtomicBool>::default();
        let caller = |at: usize| {
            let (journal, stopped) = (Arc::clone(journal), Arc::clone(&stopped));
            let to = servers[at % 2];
            std::thread::spawn(move || call(&journal, &stopped, to))
        };
        let callers = (0..2 * CONNECTIONS).map(caller).collect();
        Self { stopped, callers }
    }

    fn stop(self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.callers.into_iter().for_each(|caller| caller.join().expect("no error reply"));
    }
}

fn call(journal: &Journal, stopped: &AtomicBool, to: SocketAddr) {
    let socket = TcpStream::connect(to).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut reader, mut writer) = (BufReader::new(socket.try_clone().unwrap()), socket);
    let pipeline = b"*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n".repeat(PIPELINE);
    let mut line = String::new();
    while !stopped.load(Ordering::Relaxed) {
        writer.write_all(&pipeline).unwrap();
        for _ in 0..PIPELINE {
            line.clear();
            reader.read_line(&mut line).unwrap();
            let number = line.strip_prefix(':').and_then(|rest| rest.trim_end().parse().ok());
            journal.bits.add("redis", [number.unwrap_or_else(|| panic!("{to}: {line:?}"))]);
        }
    }
}

/// `redis-benchmark` without an end. It ends with its first error reply.
fn benchmark(to: SocketAddr) -> std::process::Child {
    let mut command = Command::new("redis-benchmark");
    command.args([
        "-p",
        &to.port().to_string(),
        "-c",
        "8",
        "-P",
        "16",
        "-n",
        "100000",
        "-q",
        "-l",
        "INCR",
        "order",
    ]);
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    piped.unwrap_or_else(|error| panic!("redis-benchmark (Debian: redis-tools): {error}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_death_of_a_shard_is_no_error_of_any_redis_client() {
    let harness = Harness::start(SETTINGS).await;
    let servers = [harness.servers[0].redis(), harness.servers[1].redis()];
    let load = Load::start(&harness.journal, servers);
    let mut benchmarks = servers.map(benchmark);
    let bits = &harness.journal.bits;
    let more = async |what: &str| {
        let goal = bits.count() + STRETCH;
        assert!(until(PATIENCE, async || bits.count() >= goal).await, "{what}: no more numbers come");
    };
    more("calm").await;
    harness.ring.slots[1].db.kill().await;
    let is_out = |look: &Look| !look.is_live(1);
    assert!(harness.both(PATIENCE, is_out).await.is_some(), "the slot stays in use");
    more("three shards").await;
    harness.ring.slots[1].db.restart().await;
    harness.all_live().await;
    more("four shards again").await;
    for benchmark in &mut benchmarks {
        assert_eq!(benchmark.try_wait().unwrap(), None, "it met an error reply");
        benchmark.kill().unwrap();
    }
    for benchmark in benchmarks {
        let said = tokio::task::block_in_place(|| benchmark.wait_with_output()).unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        assert!(said.contains("rps=") && !said.contains("rror"), "{said}");
    }
    tokio::task::block_in_place(|| load.stop());
    println!("{} numbers, none twice", bits.count());
}
