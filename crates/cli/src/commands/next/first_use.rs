//! First `next` of a cluster: requests are refused before the cluster is made, and a hint follows the
//! numbers.

use std::{
    io::{IsTerminal, stderr, stdout},
    path::Path,
    sync::mpsc,
    thread,
    time::Duration,
};

use sequent_engine::{
    NextRequest,
    config::{Config, Place},
};
use sequent_format::{Format, ValueError};

use crate::{failure::Failure, output, template_values::now};

/// Time limit for the check of whether the file exists. If the disk does not answer, the next user of the
/// file reports it.
const LOOK_LIMIT: Duration = Duration::from_secs(1);

/// The hint for a newcomer after the first number.
const HINT: &str =
    "try next: `sequent serve` for services, `sequent define` for texts, `sequent --help` for the rest";

/// Whether there is no ledger yet, so that this request makes one.
pub(super) fn begins(config: &Config) -> bool {
    matches!(&config.ledger.place, Place::Sqlite(path) if is_missing(path))
}

/// Prints the hint, only on a terminal.
pub(super) fn hint() {
    if stdout().is_terminal() && stderr().is_terminal() {
        output::say(HINT);
    }
}

/// Checks a first request by the configuration's own definition, which no ledger overrides yet.
pub(super) fn check(config: &Config, request: &NextRequest) -> Result<(), Failure> {
    let defined = config.sequences.iter().find(|part| part.name == request.name);
    match defined.and_then(|part| part.body.format()) {
        Some(format) => dated(format, request),
        None => plain(request),
    }
}

/// Checked in a separate thread, which is abandoned if the disk hangs.
fn is_missing(path: &Path) -> bool {
    let (tell, told) = mpsc::channel();
    let path = path.to_owned();
    thread::spawn(move || tell.send(path.try_exists()));
    matches!(told.recv_timeout(LOOK_LIMIT), Ok(Ok(false)))
}

fn dated(format: &Format, request: &NextRequest) -> Result<(), Failure> {
    let refused = |error: &ValueError| {
        let is_value = error.field != "at" || format.template().values().contains(&"at");
        let field = if is_value { format!("values.{}", error.field) } else { error.field.clone() };
        Failure::value(&field, error)
    };
    let at = match &request.at {
        Some(text) => format.instant(text).map_err(|error| refused(&error))?,
        None => now(),
    };
    format.context(at, &request.with).map(drop).map_err(|error| refused(&error))
}

fn plain(request: &NextRequest) -> Result<(), Failure> {
    if let Some((name, value)) = request.with.iter().next() {
        let bound = "no template asks for a value: leave it out";
        return Err(Failure::argument(&format!("values.{name}"), value, bound));
    }
    let bound = "no period and no template asks for an instant: leave it out";
    request.at.as_ref().map_or(Ok(()), |at| Err(Failure::argument("at", at, bound)))
}
