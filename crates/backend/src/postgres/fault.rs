//! PostgreSQL and driver errors as faults.

use sequent_core::{Condition, ErrorKind, SourceError, Why};

use crate::net::{Cause, Fault, cause_of};

/// The fault for an error of PostgreSQL or of the driver.
#[allow(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
pub(crate) fn from_driver(error: sqlx::Error) -> Fault {
    match &error {
        sqlx::Error::Database(reported) => {
            reported_fault(&reported.code().unwrap_or_default(), reported.message())
        }
        // A value of another type can only come from an operator, and a rejected certificate does not become valid by
        // itself.
        sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::Decode(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Configuration(_) => Fault::refused(error.to_string()),
        sqlx::Error::Io(below) if is_certificate(below) => Fault::refused(error.to_string()),
        sqlx::Error::Io(below) => Fault::away(Cause::from(error.to_string()).told(cause_of(below))),
        _ => Fault::away(error.to_string()),
    }
}

fn reported_fault(code: &str, message: &str) -> Fault {
    let (reaction, hint) = meaning(code);
    let cause = Cause::from(format!("{code}: {message}{hint}"));
    match reaction {
        Reaction::Retry => Fault::Busy(cause),
        Reaction::Evict => Fault::away(cause.told(match code {
            READ_ONLY => Some(Why::ReadOnly),
            DISK_FULL => Some(Why::DiskFull),
            _ => None,
        })),
        Reaction::Deny => Fault::Denied(cause),
        Reaction::Refuse => Fault::refused(cause.with(is_gone(code).then_some(Condition::TablesMissing))),
        Reaction::Login => Fault::login_refused(cause),
        Reaction::Exhaust => Fault::Answer(SourceError::new(ErrorKind::Exhausted, cause.to_string())),
    }
}

/// Whether the TLS library rejected the certificate, which it reports as a read error.
fn is_certificate(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::InvalidData && error.to_string().contains("certificate")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    Retry,
    Evict,
    Refuse,
    Deny,
    Login,
    Exhaust,
}

/// `read_only_sql_transaction`.
const READ_ONLY: &str = "25006";
/// `disk_full`.
const DISK_FULL: &str = "53100";

/// Whether the code reports a missing table or schema: `undefined_table`, `invalid_schema_name`.
fn is_gone(code: &str) -> bool {
    matches!(code, "42P01" | "3F000")
}

/// Hint if a proxy spreads statements over several connections.
pub(super) const PROXY: &str =
    ": a proxy that shares out connections can't be used: connect to the server itself";

/// The reaction to PostgreSQL's codes (SQLSTATE). Temporary errors evict the shard, and its timed rescue probes it
/// again. Errors that an operator has to correct are refused.
fn meaning(code: &str) -> (Reaction, &'static str) {
    match code {
        // numeric_value_out_of_range: the only sum made by the server is that of a take.
        "22003" => (Reaction::Exhaust, ""),
        // serialization_failure, deadlock_detected, lock_not_available: rolled back completely.
        "40001" | "40P01" | "55P03" => (Reaction::Retry, ""),
        // protocol_violation: a proxy's answer to an unknown startup parameter. The other two: a statement that was
        // prepared on another connection.
        "08P01" | "26000" | "42P05" => (Reaction::Refuse, PROXY),
        "28P01" => (Reaction::Login, ": is it the right user in the url, and the right password?"),
        "3D000" => (Reaction::Refuse, ": create the database, or name another one"),
        "42501" => (Reaction::Deny, ": the role lacks a privilege; the documentation lists what it needs"),
        code if is_gone(code) => (Reaction::Refuse, ": the tables are gone, or were never made here"),
        READ_ONLY => (Reaction::Evict, ": the server takes no writes"),
        // data_corrupted, index_corrupted.
        "XX001" | "XX002" => (Reaction::Refuse, ": the data is damaged: restore it from a copy"),
        // "cached plan must not change result type": a table was altered; another connection plans anew.
        "0A000" => (Reaction::Evict, ""),
        _ => match code.get(..2) {
            // invalid authorization: a role that does not exist, or may not log in, or not from this host.
            Some("28") => (Reaction::Login, ""),
            // Invalid catalog or schema name; syntax or access; integrity; invalid value.
            Some("3D" | "3F" | "42" | "23" | "22") => (Reaction::Refuse, ""),
            // Connection, resources, operator intervention, system, and unknown codes.
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
            ("42501", Reaction::Deny),
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

    #[test]
    fn a_table_that_is_gone_is_told_by_its_code_whatever_the_server_says() {
        let condition = |code| reported_fault(code, "in whatever language").into_error("read").condition();
        assert_eq!(condition("42P01"), Some(Condition::TablesMissing));
        assert_eq!(condition("3F000"), Some(Condition::TablesMissing));
        assert_eq!((condition("42703"), condition("3D000")), (None, None));
    }
}
