//! What MongoDB and the driver say, and what it means.

use std::{error::Error as _, io};

use mongodb::error::{Error, ErrorKind as Said};
use sequent_core::{ErrorKind, Why};

use crate::net::{Cause, Fault, cause_of};

/// The collection is there already.
pub(super) const NAMESPACE_EXISTS: i32 = 48;
/// A unique key is there already.
pub(super) const DUPLICATE_KEY: i32 = 11_000;
/// The collection bears another identity.
const COLLECTION_UUID_MISMATCH: i32 = 361;
/// The user may not.
const UNAUTHORIZED: i32 = 13;
/// The login is refused.
const AUTHENTICATION_FAILED: i32 = 18;
/// Two writes met.
const WRITE_CONFLICT: i32 = 112;

/// What the server says of a command that it did not do.
pub(super) fn of_command(code: i32, name: &str, message: &str) -> Fault {
    let cause = Cause::from(format!("{code} {name}: {message}")).hinted(hint(code, message));
    match code {
        WRITE_CONFLICT => Fault::Busy(cause),
        COLLECTION_UUID_MISMATCH => Fault::Stale(cause),
        AUTHENTICATION_FAILED => Fault::login_refused(cause),
        UNAUTHORIZED => Fault::Denied(cause),
        code => Fault::Server(code, kind_of(code), cause.told(why_of(code))),
    }
}

/// What the driver says of a command.
pub(super) fn of_driver(error: &Error) -> Fault {
    let cause = Cause::from(error.kind.to_string());
    match &*error.kind {
        Said::Command(said) => of_command(said.code, &said.code_name, &said.message),
        Said::Authentication { message, .. } => Fault::login_refused(message),
        // Certificates, versions, and what only we can have said wrongly: none of it mends itself.
        Said::InvalidTlsConfig { .. }
        | Said::IncompatibleServer { .. }
        | Said::InvalidArgument { .. }
        | Said::Bson(_) => Fault::refused(cause),
        Said::Io(below) if is_tls(below) => Fault::refused(cause),
        _ => Fault::away(cause.told(io_below(error).and_then(cause_of))),
    }
}

fn is_tls(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).is_some()
}

/// What the system said, where that is why the driver failed.
fn io_below(error: &Error) -> Option<&io::Error> {
    match &*error.kind {
        Said::Io(below) => Some(below),
        _ => io_below(error.source()?.downcast_ref()?),
    }
}

/// What the server's codes mean. What comes and goes with the server evicts, so that timed rescue brings it back; what a
/// person must mend is refused.
fn kind_of(code: i32) -> ErrorKind {
    match code {
        // BadValue, FailedToParse, TypeMismatch, InvalidLength, IllegalOperation, NamespaceNotFound, CannotCreateIndex,
        // InvalidOptions, InvalidNamespace, CommandNotFound, IDL's unknown fields, DocumentValidationFailure.
        2 | 9 | 14 | 16 | 20 | 26 | 67 | 72 | 73 | 59 | 121 | 40415 => ErrorKind::Refused,
        _ => ErrorKind::Unavailable,
    }
}

fn why_of(code: i32) -> Option<Why> {
    match code {
        // MaxTimeMSExpired, WriteConcernTimeout.
        50 | 64 => Some(Why::TimedOut),
        // OutOfDiskSpace.
        14031 => Some(Why::DiskFull),
        _ => None,
    }
}

fn hint(code: i32, message: &str) -> &'static str {
    match code {
        UNAUTHORIZED => "; the user needs the role readWrite on this database",
        // Of a BadValue nothing but the text says of what.
        2 if message.contains("journal") => {
            "; its storage keeps no journal, so what it acknowledges may be lost"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_kinds() {
        for (code, kind) in [
            (2, ErrorKind::Refused),
            (13, ErrorKind::Refused),
            (18, ErrorKind::Refused),
            (26, ErrorKind::Refused),
            (40415, ErrorKind::Refused),
            (112, ErrorKind::Contended),
            (361, ErrorKind::Unavailable),
            (6, ErrorKind::Unavailable),
            (64, ErrorKind::Unavailable),
            (91, ErrorKind::Unavailable),
            (100, ErrorKind::Unavailable),
            (189, ErrorKind::Unavailable),
            (10107, ErrorKind::Unavailable),
            (11602, ErrorKind::Unavailable),
            (14031, ErrorKind::Unavailable),
        ] {
            assert_eq!(of_command(code, "Name", "said").into_error("take").kind(), kind, "{code}");
        }
    }

    #[test]
    fn callers_are_told_what_codes_and_the_system_say() {
        for (code, why) in [
            (18, Some(Why::LoginRefused)),
            (64, Some(Why::TimedOut)),
            (14031, Some(Why::DiskFull)),
            (91, None),
        ] {
            assert_eq!(of_command(code, "Name", "said").into_error("take").why(), why, "{code}");
        }
        let refused = Error::from(io::Error::from(io::ErrorKind::ConnectionRefused));
        assert_eq!(of_driver(&refused).into_error("take").why(), Some(Why::ConnectionRefused));
    }
}
