//! Log lines on standard error: warnings, unless more is asked for.

use std::{io, sync::OnceLock};

use clap::ValueEnum;
use sequent_core::{Clock, SystemClock};
use serde_json::json;
use tracing_subscriber::EnvFilter;

use crate::{failure::Failure, output, traces::Traces};

/// The variable for a filter: `SEQUENT_LOG=debug`, or by target in the syntax of `tracing`.
const VARIABLE: &str = "SEQUENT_LOG";

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One object a line, for machines: a line's fields beside its message, and the request that it belongs to.
    Json,
}

/// The format of this process's log lines; unset until logging has started.
static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Writes a line to standard error whatever the filter: as an object if log lines are JSON.
pub(crate) fn say(line: &str) {
    if FORMAT.get() != Some(&LogFormat::Json) {
        return output::say(line);
    }
    let at = humantime::format_rfc3339_micros(SystemClock.wall()).to_string();
    let object = json!({ "timestamp": at, "level": "INFO", "message": line, "target": "sequent" });
    output::say(&object.to_string());
}

/// Starts logging. `verbose` is the number of `-v`, `quiet` the filter without any. Spans go to `traces` too.
pub(crate) fn start(verbose: u8, quiet: &str, format: LogFormat, traces: &Traces) -> Result<(), Failure> {
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter(verbose, quiet)?)
        .with_writer(io::stderr)
        // If standard error can't be written to, the subscriber would report that on standard error, and
        // panic.
        .log_internal_errors(false);
    match format {
        LogFormat::Text => traces.init(lines.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).finish()),
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true).with_current_span(true).with_span_list(false);
            traces.init(lines.finish());
        }
    }
    // Set once a process: `init` refuses a second start.
    let _set_before = FORMAT.set(format);
    Ok(())
}

fn filter(verbose: u8, quiet: &str) -> Result<EnvFilter, Failure> {
    Ok(match (verbose, std::env::var(VARIABLE)) {
        (0, Ok(directives)) if !directives.is_empty() => EnvFilter::try_new(&directives)
            .map_err(|error| Failure::argument(VARIABLE, &directives, format!("a log filter ({error})")))?,
        (0, _) if quiet == "off" => EnvFilter::new(quiet),
        // `h2` warns of each connection that resets too much. The server counts them, and says it once a minute.
        (0, _) => EnvFilter::new(format!("{quiet},h2=error")),
        (1, _) => EnvFilter::new("info,h2=error"),
        (2, _) => EnvFilter::new("debug"),
        _ => EnvFilter::new("trace"),
    })
}
