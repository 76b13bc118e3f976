//! S5: `INCR` by redis-benchmark, beside redis-server without persistence, and beside one that writes each change to disk.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Command, Stdio},
    time::Duration,
};

use sequent_benches::Row;

use crate::{
    child::Server,
    load::{Found, check, said},
    plan::{Cost, Loading, Plan},
    serve::SEQUENT,
};

/// Connections of redis-benchmark.
const CONNECTIONS: &str = "50";

/// Commands of the run that finds out how many fit into a round.
const FIRST: u64 = 50_000;

/// Row beside a redis-server without persistence, the same beside one with it, commands of a pipeline, and the goal.
const ROWS: [(&str, &str, u64, f64); 3] =
    [("S5-1", "S5-1-always", 1, 1.0), ("S5-16", "S5-16-always", 16, 1.0), ("S5-64", "S5-64-always", 64, 1.5)];

/// Whether any row of this file is wanted.
pub(crate) fn is_wanted(plan: &Plan) -> bool {
    plan.wants("S5") || ROWS.iter().any(|(row, always, ..)| plan.wants(row) || plan.wants(always))
}

/// Whether a word of the command line is a row of this file, or all of them.
pub(crate) fn is_row(word: &str) -> bool {
    word == "S5" || ROWS.iter().any(|(row, always, ..)| word == *row || word == *always)
}

pub(crate) fn run(plan: &Plan, (rows, costs): (&mut Vec<Row>, &mut Vec<Cost>)) -> Result<(), String> {
    check("redis-benchmark", "redis-tools")?;
    check("redis-server", "redis-server")?;
    let folder = tempfile::tempdir().map_err(|error| format!("no directory: {error}"))?;
    let subject = Server::start(SEQUENT)?;
    let volatile = redis_server(&[])?;
    let place = folder.path().display().to_string();
    let always = redis_server(&["--dir", &place, "--appendonly", "yes", "--appendfsync", "always"])?;
    for (row, row_always, pipeline, goal) in ROWS {
        let load = |at: usize| move |server: &Server| incr(server.addresses[at], pipeline, plan.load.seconds);
        for (row, baseline) in [(row, &volatile), (row_always, &always)] {
            if plan.wants("S5") || plan.wants(row) {
                let loads: (Loading<'_>, Loading<'_>) = (&load(2), &load(0));
                plan.pair((row, goal), (&subject, baseline), loads, (&mut *rows, &mut *costs))?;
            }
        }
    }
    Ok(())
}

/// redis-server on a free port, without snapshots.
fn redis_server(settings: &[&str]) -> Result<Server, String> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = free.map_err(|error| format!("no port: {error}"))?;
    let mut command = Command::new("redis-server");
    command.args(["--bind", "127.0.0.1", "--port", &address.port().to_string(), "--save", ""]).args(settings);
    let child = command.stdout(Stdio::null()).spawn().map_err(|error| format!("redis-server: {error}"))?;
    let server = Server::of(child, vec![address]);
    for _ in 0..200 {
        if answers(address).is_ok() {
            return Ok(server);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err("redis-server does not answer".to_owned())
}

fn answers(address: SocketAddr) -> std::io::Result<()> {
    let mut socket = TcpStream::connect(address)?;
    socket.write_all(b"PING\r\n")?;
    socket.read_exact(&mut [0; 7])
}

/// Numbers by redis-benchmark for about so long. It ends with the first error reply.
fn incr(to: SocketAddr, pipeline: u64, seconds: u64) -> Result<Found, String> {
    let first = benchmark(to, pipeline, FIRST)?;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "commands of a round"
    )]
    let count = ((first.rate * seconds as f64) as u64).clamp(FIRST, 100 * 1_000_000);
    benchmark(to, pipeline, count)
}

fn benchmark(to: SocketAddr, pipeline: u64, count: u64) -> Result<Found, String> {
    let mut command = Command::new("redis-benchmark");
    command.args(["-h", &to.ip().to_string(), "-p", &to.port().to_string(), "-c", CONNECTIONS]);
    command.args(["-P", &pipeline.to_string(), "-n", &count.to_string(), "--csv", "INCR", "order"]);
    let said = said(&mut command)?;
    // "INCR order","217391.30",...
    let rate =
        said.lines().last().and_then(|line| line.split("\",\"").nth(1)).and_then(|rate| rate.parse().ok());
    #[allow(clippy::cast_precision_loss, reason = "commands of a round")]
    let done = count as f64;
    rate.map(|rate| Found { rate, done }).ok_or_else(|| format!("redis-benchmark said no rate:\n{said}"))
}
