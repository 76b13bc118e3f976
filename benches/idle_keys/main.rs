//! What a key costs in memory, in use and idle: the second half of goal S11.
//!
//! Counted is what this process's allocator has handed out and not got back, before and after: exact, and without the
//! caches of SQLite, which is C. Stores and ledger are files, as in production they are elsewhere; what is counted is
//! what a server keeps for a key. Idle keys are made so by stepping the clock, not by waiting.

mod clock;
mod measure;
mod plan;

use std::{alloc::System, process::ExitCode};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use plan::Plan;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const HELP: &str = "\
Bytes that a server keeps for a key, in use and idle.

  cargo bench -p sequent-benches --bench idle_keys -- --keys 20000 --place /dev/shm
  cargo bench -p sequent-benches --bench idle_keys -- --keys 1000000 --at-once 100000
  cargo bench -p sequent-benches --bench idle_keys -- --partitions --keys 100000 --at-once 100000

--keys N (100 to 1000000, default 20000), --at-once N in use at a time (100 to 1000000, default 50000: so many are made,
counted and given up before the next, about 6 KB each), --partitions (the keys are partitions of one sequence, which gives
texts), --place DIR (default /dev/shm: the files are no part of what is measured, and take about 1 KB a key), --json,
--help. Each key's first number costs a few durable writes, so a place in memory saves time; giving up takes half a minute
each time.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if args.iter().any(|arg| arg == "--help") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let done = Plan::parse(args).and_then(|plan| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let found =
            runtime.map_err(|error| format!("no runtime: {error}"))?.block_on(measure::run(&plan, held))?;
        found.print(plan.json);
        Ok(())
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("idle_keys: {text}");
            ExitCode::from(2)
        }
    }
}

/// What is allocated now, in bytes.
#[allow(clippy::cast_precision_loss, reason = "bytes of a process are far below 2^52")]
fn held() -> f64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated) as f64
}
