//! Log lines go to standard error: warnings unless asked for more.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::failure::Failure;

/// Where a filter may be set: `SEQUENT_LOG=debug`, or by target as `tracing` knows it.
const VARIABLE: &str = "SEQUENT_LOG";

/// Starts logging; `verbose` is how often `-v` was given, `quiet` the filter without it.
pub(crate) fn start(verbose: u8, quiet: &str) -> Result<(), Failure> {
    let filter = match (verbose, std::env::var(VARIABLE)) {
        (0, Ok(directives)) if !directives.is_empty() => EnvFilter::try_new(&directives)
            .map_err(|error| Failure::argument(VARIABLE, &directives, format!("a log filter ({error})")))?,
        (0, _) => EnvFilter::new(quiet),
        (1, _) => EnvFilter::new("info"),
        (2, _) => EnvFilter::new("debug"),
        _ => EnvFilter::new("trace"),
    };
    let colour = io::IsTerminal::is_terminal(&io::stderr());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(colour)
        // It would say on standard error that standard error can't be written to, and panic.
        .log_internal_errors(false)
        .init();
    Ok(())
}
