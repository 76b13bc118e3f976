//! MongoDB and driver errors as faults.

use std::{error::Error as _, io};

use mongodb::{
    bson::Document,
    error::{Error, ErrorKind as Said},
};
use sequent_core::{ErrorKind, Why};

use crate::net::{Cause, Fault, cause_of, is_tls};

/// The collection exists already.
pub(super) const NAMESPACE_EXISTS: i32 = 48;
/// A unique key exists already.
pub(super) const DUPLICATE_KEY: i32 = 11_000;
/// The collection has another UUID.
const COLLECTION_UUID_MISMATCH: i32 = 361;
/// The user lacks a privilege.
const UNAUTHORIZED: i32 = 13;
/// The login is rejected.
const AUTHENTICATION_FAILED: i32 = 18;
/// Two writes collided.
const WRITE_CONFLICT: i32 = 112;

/// The fault for a command that the server refused.
fn of_command(code: i32, name: &str, message: &str) -> Fault {
    let cause = Cause::from(format!("{code} {name}: {message}")).hinted(hint(code, message));
    match code {
        WRITE_CONFLICT => Fault::Busy(cause),
        COLLECTION_UUID_MISMATCH => Fault::Stale(cause),
        AUTHENTICATION_FAILED => Fault::login_refused(cause),
        UNAUTHORIZED => Fault::Denied(cause),
        code => Fault::Server(code, kind_of(code), cause.told(why_of(code))),
    }
}

/// The fault for an error in a command's answer.
pub(super) fn of_document(error: &Document) -> Fault {
    let text = |name| error.get_str(name).unwrap_or_default();
    of_command(error.get_i32("code").unwrap_or_default(), text("codeName"), text("errmsg"))
}

/// The fault for an error of the driver.
pub(super) fn of_driver(error: &Error) -> Fault {
    let cause = Cause::from(error.kind.to_string());
    match &*error.kind {
        Said::Command(said) => of_command(said.code, &said.code_name, &said.message),
        Said::Authentication { message, .. } => Fault::login_refused(message),
        // Certificates, versions and invalid requests: none of these errors goes away by itself.
        Said::InvalidTlsConfig { .. }
        | Said::IncompatibleServer { .. }
        | Said::InvalidArgument { .. }
        | Said::Bson(_) => Fault::refused(cause),
        Said::Io(below) if is_tls(below) => Fault::refused(cause),
        _ => Fault::away(cause.told(io_below(error).and_then(cause_of))),
    }
}

/// The I/O error that made the driver fail.
fn io_below(error: &Error) -> Option<&io::Error> {
    match &*error.kind {
        Said::Io(below) => Some(below),
        _ => io_below(error.source()?.downcast_ref()?),
    }
}

/// The kind of a server's error code. Temporary errors evict the shard, and its timed rescue probes it again. Errors
/// that an operator has to correct are refused.
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
        // A BadValue names its subject only in the text.
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
