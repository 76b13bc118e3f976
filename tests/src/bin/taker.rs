//! A process that takes numbers until it is killed: prints what it was given before it asks again, and what happens meanwhile.
//!
//! ```text
//! taker DATA CONFIG NAME COUNT PAUSE_MS        (CONFIG: a file, or `-`)
//! ```
//!
//! Unlike `sequent next` it stays, with numbers ready in memory; unlike `sequent bench` it prints every number.

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use sequent_core::{Env, Events};
use sequent_engine::{
    Engine, NextRequest, Options,
    config::{Config, Sources},
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data, config, name, count, pause_ms] = args.as_slice() else {
        eprintln!("usage: taker DATA CONFIG NAME COUNT PAUSE_MS");
        return ExitCode::from(2);
    };
    let (Ok(count), Ok(pause_ms)) = (count.parse(), pause_ms.parse()) else {
        eprintln!("COUNT is {count:?}, PAUSE_MS is {pause_ms:?}: numbers are expected");
        return ExitCode::from(2);
    };
    let sources = Sources::embedded(data);
    let sources = if config == "-" { sources } else { sources.file(config) };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(take(&sources, name, count, Duration::from_millis(pause_ms))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("refused: {error}");
            ExitCode::from(3)
        }
    }
}

async fn take(
    sources: &Sources,
    name: &str,
    count: u64,
    pause: Duration,
) -> Result<(), Box<dyn std::error::Error>> {
    let events = Events::to(|event| eprintln!("event: {event:?}"));
    let options = Options {
        env: Env { events, ..Env::default() },
        say: Arc::new(|text| eprintln!("{text}")),
        ..Options::default()
    };
    let engine = Engine::open(Config::load(sources)?, options).await?;
    let request = NextRequest::new(name)?.count(count);
    loop {
        match engine.next(&request).await {
            Ok(issued) => print(issued.numbers.numbers())?,
            // Whether it goes on is what the tests look at; a busy loop would only heat the room.
            Err(error) => {
                eprintln!("error: {} {error}", error.reason());
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        tokio::time::sleep(pause).await;
    }
}

/// One write for a whole answer: a number counts as given once it is out.
fn print(numbers: impl Iterator<Item = u64>) -> io::Result<()> {
    let mut lines = Vec::new();
    for number in numbers {
        writeln!(lines, "{number}")?;
    }
    io::stdout().write_all(&lines)?;
    io::stdout().flush()
}
