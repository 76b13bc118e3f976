//! Ceilings of a thousand counters raised in one call, on each ledger that a bench can start.

use std::{process::ExitCode, sync::Arc, time::Duration};

use sequent_backend::{
    mysql::MysqlLedger,
    net::ServerOptions,
    postgres::PostgresLedger,
    sqlite::{SqliteLedger, SqliteOptions},
};
use sequent_core::{
    Clock, Epoch, InstanceId, Key, Layout, SystemClock,
    ledger::{Counter, LayoutRecord, Ledger, Opening, Over, Pass, Raise, ServerId},
};
use sequent_testkit::servers::{MariaDb, Postgres};

const HELP: &str = "\
Raises of 1,000 counters in one call, a second: MariaDB, PostgreSQL and SQLite, each with data of its own.

  cargo bench -p sequent-benches --bench raises
  cargo bench -p sequent-benches --bench raises -- --seconds 10

To be held against the same program of another commit, one after the other on a machine at rest.";

const COUNTERS: usize = 1000;
const SLOTS: u16 = 4;
const SERVER: ServerId = ServerId(7);

type Done<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let seconds = match &args[..] {
        [] => Some(5),
        [flag, value] if flag == "--seconds" => {
            value.parse().ok().filter(|seconds| (1..=600).contains(seconds))
        }
        _ => None,
    };
    let Some(seconds) = seconds else {
        println!("{HELP}");
        return ExitCode::from(u8::from(!args.iter().any(|arg| arg == "--help" || arg == "-h")) * 2);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let ran =
        runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run(Duration::from_secs(seconds))));
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("raises: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run(length: Duration) -> Done<()> {
    let maria = MariaDb::start().await;
    maria.sql("CREATE DATABASE ledger").await;
    let url = format!("mysql://root@{}/ledger", maria.address());
    let options = ServerOptions { create: true, ..ServerOptions::from_url(&url)? };
    measure("MariaDB", Arc::new(MysqlLedger::new(options)), length).await?;
    let postgres = Postgres::start().await;
    let options = ServerOptions { create: true, ..ServerOptions::from_url(&postgres.url())? };
    measure("PostgreSQL", Arc::new(PostgresLedger::new(options)), length).await?;
    let folder = tempfile::tempdir()?;
    let options = SqliteOptions { create: true, ..SqliteOptions::default() };
    measure("SQLite", Arc::new(SqliteLedger::new(folder.path().join("ledger.db"), options)), length).await
}

/// Raises a second.
#[allow(clippy::cast_precision_loss, reason = "numbers of a bench")]
async fn measure(name: &str, ledger: Arc<dyn Ledger>, length: Duration) -> Done<()> {
    let under = ledger.inspect().await?.instance;
    let layout = LayoutRecord { cluster: "bench".parse()?, layout: Layout::new(2, 0)?, generation: 1 };
    ledger.found(&layout).await?;
    ledger.enlist(&under, SERVER, 0).await?;
    ledger.record(&under, None, &under).await?;
    ledger.open(pass(&under, &[0], 1), &openings()).await?;
    let (begun, mut calls) = (SystemClock.now(), 0_u64);
    while SystemClock.now().saturating_duration_since(begun) < length {
        calls += 1;
        ledger.raise(pass(&under, &[calls], calls + 1), &raises(calls)).await?;
    }
    let took = SystemClock.now().saturating_duration_since(begun);
    println!("{name:<10}  {:8.1} calls of {COUNTERS} raises a second", calls as f64 / took.as_secs_f64());
    Ok(())
}

fn pass<'a>(under: &'a InstanceId, nonces: &'a [u64], next: u64) -> Pass<'a> {
    Pass { under, record: Some(under), server: SERVER, nonces, next, generation: 1 }
}

fn counters() -> impl Iterator<Item = Counter> {
    (0..COUNTERS).map(|at| {
        let slot = u16::try_from(at).unwrap_or(0) % SLOTS;
        Counter { slot, key: Key::from_stored(&format!("order{}", at / usize::from(SLOTS))) }
    })
}

fn openings() -> Vec<Opening> {
    let store = InstanceId::new("store");
    let opening = |counter| Opening {
        counter,
        epoch: Epoch::from_stored(1),
        over: Over::Nothing,
        store: store.clone(),
        value: 0,
        beside: 0,
        ahead: 100,
        jump_max: 1000,
    };
    counters().map(opening).collect()
}

fn raises(call: u64) -> Vec<Raise> {
    let (ceiling, seen) = (100 + call, call);
    counters()
        .map(|counter| Raise { counter, epoch: Epoch::from_stored(1), ceiling, seen, jump_max: 1000 })
        .collect()
}
