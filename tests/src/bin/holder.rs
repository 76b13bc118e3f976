//! A process that holds a lease: prints each number, and the milliseconds since it began, for as long as it runs.
//!
//!     holder SERVERS NAME AGE_MS PAUSE_US
//!
//! It never waits for a number, so what it prints is what was in its memory.

use std::{
    error::Error,
    io::{self, Write},
    thread,
    time::{Duration, Instant},
};

use sequent_client::{Client, blocking};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [servers, name, age_ms, pause_us] = args.as_slice() else {
        return Err("usage: holder SERVERS NAME AGE_MS PAUSE_US".into());
    };
    let (age, pause) = (Duration::from_millis(age_ms.parse()?), Duration::from_micros(pause_us.parse()?));
    let settings = Client::builder().lease_max_age(age).reserve(age);
    let client = blocking::Client::connect_with(settings, servers)?;
    let sequence = client.sequence(name)?;
    sequence.ready()?;
    #[allow(clippy::disallowed_methods, reason = "what a test measures")]
    let begun = Instant::now();
    let mut out = io::stdout().lock();
    loop {
        if let Some(number) = sequence.try_next() {
            writeln!(out, "{number} {}", begun.elapsed().as_millis())?;
            out.flush()?;
        }
        thread::sleep(pause);
    }
}
