//! Failures of commands, for people and scripts: `sequent: REASON: text`, or a JSON object, and an exit code.

use std::{fmt::Display, io, path::Path, process::ExitCode};

use clap::error::ErrorKind;
use sequent_engine::{
    EngineError, OpenError, Reason,
    config::{Fault, Faults, without_secret},
};
use sequent_format::ValueError;
use serde::Serialize;
use serde_json::Value;

/// The reason of a refused start. The common table has none, since no API is open yet.
const REFUSED: &str = "CONFIGURATION_REFUSED";

/// The reason if a command needs an existing cluster.
const NO_CLUSTER: &str = "NO_CLUSTER";

/// The reason if an operator must confirm what could give numbers twice, and nothing was done.
const UNCONFIRMED: &str = "CONFIRMATION_REQUIRED";

/// The reason if a part of an import was refused, or the other system has passed it.
const INCOMPLETE: &str = "IMPORT_INCOMPLETE";

/// The reason of a failure around a command: its output, a file it should write, its own runtime.
const FAILED: &str = "FAILED";

/// A command that did not do what it was asked.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    reason: &'static str,
    message: String,
    errors: Vec<Field>,
    #[serde(skip)]
    exit: u8,
    /// The reader of standard output went away, so no report is written.
    #[serde(skip)]
    silent: bool,
}

/// A field that was wrong.
#[derive(Debug, Serialize)]
#[allow(clippy::struct_field_names, reason = "the names are those of the JSON at every api")]
struct Field {
    field: String,
    value: String,
    bound: String,
    /// The place of a fault in the configuration: a line of the file, a flag, or a variable.
    #[serde(skip_serializing_if = "String::is_empty")]
    at: String,
}

impl Field {
    fn new(field: impl Into<String>, value: impl Into<String>, bound: impl Into<String>) -> Self {
        Self { field: field.into(), value: value.into(), bound: bound.into(), at: String::new() }
    }
}

impl Failure {
    /// Something around the command failed; exit code 1.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(FAILED, 1, message.into())
    }

    /// Nothing was done, because an operator must confirm it.
    pub(crate) fn unconfirmed(message: String) -> Self {
        Self::new(UNCONFIRMED, Reason::RecoveryRequired.exit_code(), message)
    }

    /// A part of an import needs a person; the report on standard output says which.
    pub(crate) fn incomplete(message: String) -> Self {
        Self::new(INCOMPLETE, Reason::RecoveryRequired.exit_code(), message)
    }

    /// An argument out of bounds; nothing was touched.
    pub(crate) fn argument(field: &str, value: impl Display, bound: impl Into<String>) -> Self {
        let (value, bound) = (shown(&without_secret(value.to_string())), bound.into());
        let message = format!("{field} is {value:?}: {bound}");
        Self {
            errors: vec![Field::new(field, value, bound)],
            ..Self::reason(Reason::InvalidArgument, message)
        }
    }

    /// No server answered.
    pub(crate) fn server_unavailable(message: String) -> Self {
        Self::new(crate::remote::SERVER_UNAVAILABLE, Reason::NoShardAvailable.exit_code(), message)
    }

    /// A refusal by a server, as its problem document says it.
    pub(crate) fn of_problem(problem: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let reason = Reason::ALL.into_iter().find(|reason| problem["reason"] == reason.as_str());
        let field =
            |found: &Value| Field::new(text(&found["field"]), text(&found["value"]), text(&found["bound"]));
        let errors = problem["errors"].as_array().into_iter().flatten().map(field).collect();
        let failure = match reason {
            Some(reason) => Self::reason(reason, text(&problem["detail"])),
            None => Self::failed(text(&problem["detail"])),
        };
        Self { errors, ..failure }
    }

    /// An argument that is missing.
    pub(crate) fn missing(field: &str, bound: impl Into<String>) -> Self {
        let bound = bound.into();
        let message = format!("{field} is missing: {bound}");
        Self {
            errors: vec![Field::new(field, "missing", bound)],
            ..Self::reason(Reason::InvalidArgument, message)
        }
    }

    /// A value that a template does not accept, or that is missing; `field` is the command's name for it.
    pub(crate) fn value(field: &str, error: &ValueError) -> Self {
        let bound = error.bound.clone();
        if error.is_missing {
            Self::missing(field, bound)
        } else {
            Self::argument(field, &error.value, bound)
        }
    }

    /// A failure with a reason of the common table.
    pub(crate) fn reason(reason: Reason, message: String) -> Self {
        Self::new(reason.as_str(), reason.exit_code(), message)
    }

    /// A file could not be used.
    pub(crate) fn file(verb: &str, path: &Path, error: &io::Error) -> Self {
        Self::failed(format!("can't {verb} {}: {error}", path.display()))
    }

    /// Standard output could not take the result.
    pub(crate) fn output(error: &io::Error) -> Self {
        let silent = error.kind() == io::ErrorKind::BrokenPipe;
        Self { silent, ..Self::failed(format!("standard output can't take the result: {error}")) }
    }

    /// A mistake that clap found, in the common form. Help and version are not failures.
    pub(crate) fn usage(error: &clap::Error) -> Option<Self> {
        let text = error.render().to_string();
        let message = match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => return None,
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                format!("a command is missing\n\n{}", text.trim_end())
            }
            _ => text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned(),
        };
        Some(Self::reason(Reason::InvalidArgument, message))
    }

    /// Writes the failure to standard error, and returns the exit code.
    pub(crate) fn report(&self, json: bool) -> ExitCode {
        if !self.silent {
            let text = if json { serde_json::to_string(self).ok() } else { None };
            let text = text.unwrap_or_else(|| format!("sequent: {}: {}", self.reason, self.message));
            // If standard error is closed as well, only the exit code reports the failure.
            crate::output::say(&text);
        }
        ExitCode::from(self.exit)
    }

    /// Adds running servers to a failure to reach the ledger: they may still serve.
    #[must_use]
    pub(crate) fn beside_servers(mut self, urls: &[String]) -> Self {
        if self.reason == Reason::LedgerUnavailable.as_str() && !urls.is_empty() {
            let hint = format!(
                "; servers run on this data directory, and may still serve: `--server {}`",
                urls.join(",")
            );
            self.message.push_str(&hint);
        }
        self
    }

    /// Whether the server failed to answer. An answer that refuses does not count.
    pub(crate) fn is_of_a_server(&self) -> bool {
        let words =
            [Reason::Draining.as_str(), Reason::DeadlineExceeded.as_str(), crate::remote::SERVER_UNAVAILABLE];
        words.contains(&self.reason)
    }

    fn new(reason: &'static str, exit: u8, message: String) -> Self {
        Self { reason, message, errors: Vec::new(), exit, silent: false }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let fields = error.fields().iter();
        let field = |fault: &sequent_core::FieldFault| {
            Field::new(&*fault.field, fault.value.as_str(), fault.bound.as_str())
        };
        // An operator at the command line may see addresses. Data APIs show the first half only.
        let message = match error.detail() {
            Some(detail) => format!("{error}: {detail}"),
            None => error.to_string(),
        };
        let word = if error.is_refused() { REFUSED } else { error.reason().as_str() };
        Self { errors: fields.map(field).collect(), ..Self::new(word, error.exit_code(), message) }
    }
}

impl From<sequent_client::Error> for Failure {
    fn from(error: sequent_client::Error) -> Self {
        let (word, exit) = crate::remote::reason(&error);
        let field = |found: &sequent_client::Field| {
            // `is "VALUE": BOUND`, as every API writes it.
            let problem = found.problem.strip_prefix("is ").unwrap_or(&found.problem);
            let (value, bound) = problem.split_once(": ").unwrap_or(("", problem));
            Field::new(found.field.as_str(), value.trim_matches('"'), bound)
        };
        let errors = error.fields().iter().map(field).collect();
        Self { errors, ..Self::new(word, exit, error.to_string()) }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let exit = error.exit_code();
        match error {
            OpenError::Config(faults) => faults.into(),
            OpenError::Refused(text) => Self::new(REFUSED, exit, text),
            OpenError::NoCluster(text) => Self::new(NO_CLUSTER, exit, text),
            OpenError::Recovery(text) => Self::new(Reason::RecoveryRequired.as_str(), exit, text),
            OpenError::Unavailable(text) => Self::new(Reason::LedgerUnavailable.as_str(), exit, text),
        }
    }
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        let field = |fault: &Fault| Field {
            field: fault.key.clone(),
            value: fault.value.clone(),
            bound: fault.bound.clone(),
            at: fault.at.clone(),
        };
        let errors = faults.0.iter().map(field).collect();
        Self { errors, ..Self::new(REFUSED, 3, faults.to_string()) }
    }
}

/// The most characters of an argument that an error repeats: more than the engine quotes of a template.
const SHOWN_CHARS_MAX: usize = 200;

/// An argument, cut if it is long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_does_not_come_back_whole() {
        let long = "é".repeat(65_536);
        let failure = Failure::argument("name", &long, "shorter");
        assert!(failure.message.chars().count() < 300, "{}", failure.message.len());
        assert_eq!(failure.errors[0].value.chars().count(), SHOWN_CHARS_MAX + 1);
    }

    #[test]
    fn an_argument_is_repeated_without_its_password() {
        let failure = Failure::argument("SEQUENT_SERVER", "http://u:geheim@a:7420", "no user is expected");
        assert!(failure.message.contains("http://u:***@a:7420"), "{}", failure.message);
    }

    #[test]
    fn an_argument_names_field_value_and_bound() {
        let failure = Failure::argument("count", "0", "1 to 10000 are allowed");
        let json = serde_json::to_string(&failure).unwrap();
        let expected = r#"{"reason":"INVALID_ARGUMENT","message":"count is \"0\": 1 to 10000 are allowed","errors":[{"field":"count","value":"0","bound":"1 to 10000 are allowed"}]}"#;
        assert_eq!((json.as_str(), failure.exit), (expected, 2));
    }

    #[test]
    fn only_a_reader_that_went_away_is_met_in_silence() {
        assert!(Failure::output(&io::ErrorKind::BrokenPipe.into()).silent);
        assert!(!Failure::output(&io::ErrorKind::StorageFull.into()).silent);
    }

    #[test]
    fn where_the_ledger_is_away_servers_that_run_here_are_named() {
        let urls = ["http://127.0.0.1:7420".to_owned()];
        let away = || Failure::reason(Reason::LedgerUnavailable, "away".to_owned());
        let told = away().beside_servers(&urls).message;
        assert!(told.starts_with("away; ") && told.ends_with("`--server http://127.0.0.1:7420`"), "{told}");
        assert_eq!(away().beside_servers(&[]).message, "away");
        let other = Failure::reason(Reason::InvalidArgument, "wrong".to_owned());
        assert_eq!(other.beside_servers(&urls).message, "wrong");
    }
}
