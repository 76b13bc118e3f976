//! What callers are told of a failure that a driver or the system put into words: the cause, without its address.

use std::error::Error;

use sequent_core::{ErrorKind, SourceError, Why};

/// What is found in a text, and what it means; the first that is found counts. The numbers are those of Linux, which the
/// standard library writes after its own words.
const MEANINGS: &[(&str, Why)] = &[
    ("login refused", Why::LoginRefused),
    ("(os error 111)", Why::ConnectionRefused),
    ("Connection refused", Why::ConnectionRefused),
    ("connection refused", Why::ConnectionRefused),
    ("(os error 104)", Why::ConnectionLost),
    ("(os error 32)", Why::ConnectionLost),
    ("closed the connection", Why::ConnectionLost),
    ("the connection has ended", Why::ConnectionLost),
    ("connection closed", Why::ConnectionLost),
    ("onnection reset", Why::ConnectionLost),
    ("roken pipe", Why::ConnectionLost),
    ("unexpected end of file", Why::ConnectionLost),
    ("got 0 bytes at EOF", Why::ConnectionLost),
    ("(os error 113)", Why::HostUnreachable),
    ("(os error 101)", Why::HostUnreachable),
    ("failed to lookup address", Why::HostUnreachable),
    ("not connected within", Why::TimedOut),
    ("(os error 110)", Why::TimedOut),
    ("timed out", Why::TimedOut),
    ("(os error 28)", Why::DiskFull),
    ("SQLITE_FULL", Why::DiskFull),
    ("SQLITE_READONLY", Why::ReadOnly),
    ("READONLY", Why::ReadOnly),
];

/// The cause that a text names, if it is one of those that callers are told.
pub(crate) fn of(said: &str) -> Option<Why> {
    MEANINGS.iter().find(|(part, _)| said.contains(part)).map(|(_, why)| *why)
}

/// A failure of `kind` while doing `context`, for this cause; with what callers are told of it.
pub(crate) fn error(
    kind: ErrorKind,
    context: &str,
    cause: impl Into<Box<dyn Error + Send + Sync>>,
) -> SourceError {
    let cause = cause.into();
    let why = of(&cause.to_string());
    SourceError::new(kind, context).because(cause).told(why)
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::{Why, of};

    #[test]
    fn what_the_system_says_has_a_cause() {
        for (number, why) in [
            (111, Why::ConnectionRefused),
            (104, Why::ConnectionLost),
            (32, Why::ConnectionLost),
            (113, Why::HostUnreachable),
            (101, Why::HostUnreachable),
            (110, Why::TimedOut),
            (28, Why::DiskFull),
        ] {
            let said = format!("take 10.0.0.7:3306: {}", Error::from_raw_os_error(number));
            assert_eq!(of(&said), Some(why), "{said}");
        }
        for (kind, why) in [
            (ErrorKind::ConnectionRefused, Why::ConnectionRefused),
            (ErrorKind::UnexpectedEof, Why::ConnectionLost),
            (ErrorKind::TimedOut, Why::TimedOut),
        ] {
            assert_eq!(of(&Error::from(kind).to_string()), Some(why), "{kind}");
        }
    }

    #[test]
    fn what_nobody_knows_has_none() {
        assert_eq!(of("the table sequent_cell is not there"), None);
    }
}
