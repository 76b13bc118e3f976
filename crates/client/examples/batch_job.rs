//! A batch job that numbers invoices: a line in, the same line out with its number in front.
//!
//! ```console
//! $ sequent dev                                        # or a cluster's `sequent serve`
//! grpc   http://127.0.0.1:41215
//! $ printf 'tea;3\nmilk;4\n' | SEQUENT_SERVER=http://127.0.0.1:41215 cargo run -p sequent-client --example batch_job
//! 1;tea;3
//! 2;milk;4
//! ```
//!
//! What to look at: the blocking client, for a job has no use for `async`; numbers by the batch, all or none, so that
//! a batch is written whole; a patient deadline, since nobody watches, from the first connection on; the exit code that
//! says whether to try again.

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

/// A job waits for a cluster that restarts, also where it starts in the midst of that.
const PATIENCE: Duration = Duration::from_secs(60);

/// What schedulers read as "try again later", as the command line's own.
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
    // The deadline of connecting, and of each take. `Client::from_env()` would wait for 1.5 s.
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

/// Numbers a batch and writes it; an empty one is written already.
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
