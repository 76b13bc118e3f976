//! Batch job that numbers invoices: it copies each line with a number in front.
//!
//! ```console
//! $ sequent dev                                        # or a cluster's `sequent serve`
//! grpc   http://127.0.0.1:41215
//! $ printf 'tea;3\nmilk;4\n' | SEQUENT_SERVER=http://127.0.0.1:41215 cargo run -p sequent-client --example batch_job
//! 1;tea;3
//! 2;milk;4
//! ```
//!
//! It shows the blocking client, since a job needs no `async`. Numbers are taken per batch, all or none, so each
//! batch is written whole. The deadline is long, also for the first connection. The exit code tells whether to try
//! again.

use std::{
    env,
    error::Error,
    io::{self, BufRead, Write},
    process::ExitCode,
    time::Duration,
};

use sequent_client::blocking::{Client, Sequence};

/// Lines that are numbered and written together.
const BATCH: usize = 1000;

/// A job waits for a cluster that restarts, also at its own start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Exit code for "try again later", as `sequent` itself has it.
const TRY_AGAIN: u8 = 4;

fn main() -> ExitCode {
    match run() {
        Ok(lines) => {
            eprintln!("{lines} lines numbered");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("batch_job: {error}");
            let passes = error
                .downcast_ref::<sequent_client::Error>()
                .is_some_and(sequent_client::Error::is_retryable);
            ExitCode::from(if passes { TRY_AGAIN } else { 1 })
        }
    }
}

fn run() -> Result<usize, Box<dyn Error>> {
    let name = env::args().nth(1).unwrap_or("invoice".to_owned());
    let servers = env::var("SEQUENT_SERVER").unwrap_or("http://127.0.0.1:7420".to_owned());
    // The deadline of the connection and of each call. `Client::from_env()` would wait for 1.5 s.
    let settings = sequent_client::Client::builder().deadline(PATIENCE);
    let invoices = Client::connect_with(settings, &servers)?.sequence(&name)?;
    let (mut out, mut batch, mut lines) = (io::stdout().lock(), Vec::with_capacity(BATCH), 0);
    for line in io::stdin().lock().lines() {
        batch.push(line?);
        if batch.len() == BATCH {
            lines += write(&invoices, &mut batch, &mut out)?;
        }
    }
    lines += write(&invoices, &mut batch, &mut out)?;
    Ok(lines)
}

/// Numbers and writes a batch. An empty one is skipped.
fn write(
    invoices: &Sequence,
    batch: &mut Vec<String>,
    out: &mut impl Write,
) -> Result<usize, Box<dyn Error>> {
    let count = batch.len();
    if count > 0 {
        let numbers = invoices.next_many(count)?;
        for (number, line) in numbers.iter().zip(batch.drain(..)) {
            writeln!(out, "{number};{line}")?;
        }
        out.flush()?;
    }
    Ok(count)
}
