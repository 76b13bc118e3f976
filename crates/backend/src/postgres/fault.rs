//! What PostgreSQL and the driver say, and who must react.

use std::fmt;

use sequent_core::{ErrorKind, SourceError};

use crate::why;

/// Why a verb did not come to its end.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Somebody else holds the lock, or two transactions met: nothing was done, it is tried again within a bound.
    Busy(Cause),
    /// The tables are not those that the connection was opened on. Nothing was touched: the connection is given up, and
    /// another one learns who speaks now.
    Stale(Cause),
    /// The connection, or what it says, failed: it is given up.
    Broken(ErrorKind, Cause),
    /// The server does not let this role in, or nobody can say what proves who it is.
    Login(Cause),
    /// The verb's own answer: the connection is sound.
    Answer(SourceError),
}

/// The server's code and text, or what else was found.
#[derive(Debug)]
pub(crate) struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cause {}

impl Fault {
    /// A failure that the server did not report itself.
    pub(super) fn broken(kind: ErrorKind, cause: impl Into<String>) -> Self {
        Self::Broken(kind, Cause(cause.into()))
    }

    /// No login, for this cause.
    pub(super) fn login(cause: impl Into<String>) -> Self {
        Self::Login(Cause(cause.into()))
    }

    /// The same of a server that has let this process in before: it may again, as while a password is being changed in two
    /// places. What comes and goes evicts, and is looked at again; at a start it is for a person to mend.
    pub(super) fn of_one_known(self) -> Self {
        match self {
            Self::Login(cause) => Self::Broken(ErrorKind::Unavailable, cause),
            other => other,
        }
    }

    /// Other tables than before.
    pub(super) fn stale(cause: impl Into<String>) -> Self {
        Self::Stale(Cause(cause.into()))
    }

    /// The failure as the rooms above know it, said to have happened while doing `context`.
    pub(super) fn into_error(self, context: &str) -> SourceError {
        match self {
            Self::Busy(cause) => why::error(ErrorKind::Contended, context, cause),
            Self::Stale(cause) => why::error(ErrorKind::Unavailable, context, cause),
            Self::Broken(kind, cause) => why::error(kind, context, cause),
            Self::Login(cause) => why::error(ErrorKind::Refused, context, cause),
            Self::Answer(error) => error.during(context),
        }
    }
}

impl From<SourceError> for Fault {
    fn from(error: SourceError) -> Self {
        Self::Answer(error)
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        let reported = match &error {
            sqlx::Error::Database(reported) => reported,
            // A value of another type than ours stands in a table: only a person can have put it there. Nor does a
            // certificate mend itself.
            sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::Decode(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Configuration(_) => return Self::broken(ErrorKind::Refused, error.to_string()),
            sqlx::Error::Io(below) if is_certificate(below) => {
                return Self::broken(ErrorKind::Refused, error.to_string());
            }
            _ => return Self::broken(ErrorKind::Unavailable, error.to_string()),
        };
        let code = reported.code().unwrap_or_default();
        let (reaction, hint) = meaning(&code);
        let cause = format!("{code}: {}{hint}", reported.message());
        match reaction {
            Reaction::Retry => Self::Busy(Cause(cause)),
            Reaction::Evict => Self::broken(ErrorKind::Unavailable, cause),
            Reaction::Refuse => Self::broken(ErrorKind::Refused, cause),
            Reaction::Login => Self::login(format!("login refused: {cause}")),
            Reaction::Exhaust => Self::Answer(SourceError::new(ErrorKind::Exhausted, cause)),
        }
    }
}

/// Whether the TLS library did not accept who answers: it says so as a fault of reading.
fn is_certificate(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::InvalidData && error.to_string().contains("certificate")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    Retry,
    Evict,
    Refuse,
    Login,
    Exhaust,
}

/// What is added where something between us and the server deals out its connections.
pub(super) const PROXY: &str =
    "a proxy that shares out connections can't be used: connect to the server itself";

/// PostgreSQL's codes (SQLSTATE). What comes and goes with the server evicts, so that timed rescue brings it back; what
/// a person must mend is refused.
fn meaning(code: &str) -> (Reaction, &'static str) {
    match code {
        // numeric_value_out_of_range: the one sum that is made on the server is that of a take.
        "22003" => (Reaction::Exhaust, ""),
        // serialization_failure, deadlock_detected, lock_not_available: rolled back whole.
        "40001" | "40P01" | "55P03" => (Reaction::Retry, ""),
        // protocol_violation is what a proxy says to a startup parameter that it does not know; the others what comes
        // of a statement prepared on another connection.
        "08P01" | "26000" | "42P05" => (
            Reaction::Refuse,
            ": a proxy that shares out connections can't be used: \
            connect to the server itself",
        ),
        "28P01" => (Reaction::Login, ": is it the right user in the url, and the right password?"),
        "3D000" => (Reaction::Refuse, ": create the database, or name another one"),
        "42501" => (Reaction::Refuse, ": the role lacks a privilege; the documentation lists what it needs"),
        "42P01" | "3F000" => (Reaction::Refuse, ": the tables are gone, or were never made here"),
        "25006" => (Reaction::Evict, ": the server takes no writes"),
        // data_corrupted, index_corrupted.
        "XX001" | "XX002" => (Reaction::Refuse, ": the data is damaged: restore it from a copy"),
        // "cached plan must not change result type": somebody altered a table; another connection plans anew.
        "0A000" => (Reaction::Evict, ""),
        _ => match code.get(..2) {
            // invalid authorization: a role that there is not, or that may not log in, or not from here.
            Some("28") => (Reaction::Login, ""),
            // invalid catalog name, schema name; syntax or access; integrity; no such value.
            Some("3D" | "3F" | "42" | "23" | "22") => (Reaction::Refuse, ""),
            // Connection, resources, operator's intervention, system: and what is not known.
            _ => (Reaction::Evict, ""),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_its_reaction() {
        let expected = [
            ("22003", Reaction::Exhaust),
            ("40001", Reaction::Retry),
            ("40P01", Reaction::Retry),
            ("55P03", Reaction::Retry),
            ("28P01", Reaction::Login),
            ("28000", Reaction::Login),
            ("3D000", Reaction::Refuse),
            ("42501", Reaction::Refuse),
            ("42P01", Reaction::Refuse),
            ("08P01", Reaction::Refuse),
            ("XX001", Reaction::Refuse),
            ("XX000", Reaction::Evict),
            ("08006", Reaction::Evict),
            ("25006", Reaction::Evict),
            ("53100", Reaction::Evict),
            ("53300", Reaction::Evict),
            ("57P01", Reaction::Evict),
            ("57P03", Reaction::Evict),
            ("58030", Reaction::Evict),
            ("", Reaction::Evict),
        ];
        for (code, reaction) in expected {
            assert_eq!(meaning(code).0, reaction, "{code}");
        }
    }
}
