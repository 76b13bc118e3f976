//! The APIs beside empty servers: goals S6 (gRPC `Next` beside a tonic echo, h2load) and S7 (HTTP `next` beside an axum
//! handler that does nothing, wrk); S5: `INCR` beside redis-server, by
//! redis-benchmark; S15: with tokens, and with TLS; S8: the SDK's merged callers beside callers one by one; S11: a million active keys beside one.
//!
//! Each server is a process of its own, of this very program; the load comes from tools that others wrote.

mod access;
mod callers;
mod child;
mod filling;
mod fresh;
mod keys;
mod load;
mod plan;
mod redis;
mod serve;

use std::process::ExitCode;

use plan::Plan;

const HELP: &str = "\
The apis beside empty servers, loaded by h2load (Debian: nghttp2-client) and wrk (Debian: wrk).

  cargo bench -p sequent-benches --bench apis                     all rows
  cargo bench -p sequent-benches --bench apis -- S6 --rounds 5    one row, fewer rounds
  cargo bench -p sequent-benches --bench apis -- S5               beside redis-server (Debian: redis-server)
  cargo bench -p sequent-benches --bench apis -- S8               needs neither tool
  cargo bench -p sequent-benches --bench apis -- S15              with tokens, and with TLS
  cargo bench -p sequent-benches --bench apis -- S11 S11-grpc --keys 100000
  cargo bench -p sequent-benches --bench apis -- metrics          what counting costs

Rows: S5 (S5-1, S5-16, S5-64: INCR by redis-benchmark, 50 connections, so many commands a pipeline, beside redis-server
without persistence; S5-1-always and so on beside one with appendfsync always), S6, S7, S8 (64 callers of the SDK's next_fresh, beside 64 that make a unary call a number, over --connections),
S15 (S15-grpc-token, S15-http-token, S15-grpc-tls, S15-http-tls: beside the same server with neither),
metrics (gRPC `Next`, beside the same server that counts nothing; 61 rounds of a second unless told otherwise), S11 (many keys beside one, HTTP), S11-grpc (the same by gRPC, from callers of this process, --connections times
--streams of them). Flags: --rounds N (1 to 1000, default 9), --seconds N a round and side (1 to 600, default 3),
--connections N (1 to 10000, default 8), --streams N a connection (1 to 256, default 16),
--keys N of S11 (2 to 1000000, default 1000000), --memory-max-gb N that S11's server may hold (1 to 1000, default 12;
an active key takes about 8 KB with its rows and cells in the same process), --json, --help.

Printed are rates, the median of the rounds' ratios with their quartiles and the interval it lies in by chance, and the processor time of the servers for a
request, which says more than the rate where the load generator and the server share a machine of few cores.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let done = match args.first().map(String::as_str) {
        Some("--help" | "-h") => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Some("--role") => serve::run(&args[1..]),
        _ => Plan::parse(args).and_then(|plan| plan.run()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("apis: {text}");
            ExitCode::from(2)
        }
    }
}
