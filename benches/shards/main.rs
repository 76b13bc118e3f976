//! Numbers from real shards: four MariaDB servers and a fifth for the ledger, started here on free ports.
//!
//! S4: local takes across refills; S9: the same load with all shards alive and with one killed; S10: one id a take beside a
//! bare `INSERT`, and blocks of eight rows; `guard`: what the guard costs; `m`: what memory bits buy.

mod bare;
mod bits;
mod callers;
mod fleet;
mod guarded_ring;
mod inserts;
mod killed;
mod local;
mod note;
mod plan;
mod unguarded;
mod waits;

use std::process::ExitCode;

use plan::Plan;

const HELP: &str = "\
Numbers from real shards: four MariaDB servers and a fifth for the ledger (Debian: mariadb-server), each on a free port
with data of its own, gone afterwards.

  cargo bench -p sequent-benches --bench shards                       all rows
  cargo bench -p sequent-benches --bench shards -- S10 --rounds 5     one row, fewer rounds
  cargo bench -p sequent-benches --bench shards -- m --seconds 5      the table for choosing memory_bits

Rows: S4 (a reservoir over the shards drawn dry by 1 and by 2 threads, beside the published figures of CosId's
SegmentChainId), S9 (callers of one server's engine, one shard killed, beside all alive), S10 (ids one by one beside a bare
INSERT loop, and blocks of 8 rows), guard (takes of 8 rows a slot with the guard, beside the same without it), m (numbers a second and latencies for memory_bits 0, 3 and 8).
Flags: --rounds N (1 to 1000, default 7), --seconds N a round and side (1 to 600, default 3), --tasks N callers at once
(1 to 256, default 16), --at-risk N of S4: the numbers that a reservoir may hold (1 to 1000000000, default
100000000), --json, --help.

Printed are rates, the median of the rounds' ratios with its quartiles, and what each row says besides.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match Plan::parse(args).and_then(|plan| plan.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("shards: {text}");
            ExitCode::from(2)
        }
    }
}
