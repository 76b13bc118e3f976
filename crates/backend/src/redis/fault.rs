//! Redis and driver errors as faults.

use std::{error::Error, io, sync::Arc};

use redis::{ErrorKind as Said, RedisError};
use sequent_core::{ErrorKind, Why};

use crate::net::{Cause, Fault, cause_of};

/// Hint for a node of a Redis Cluster.
pub(super) const CLUSTER: &str =
    ": nodes of a Redis Cluster hand their keys to each other; connect to a server of its own";

/// Our code for a number above 2^63-1; Redis has none.
const OVERFLOW: &str = "OVERFLOW";

/// Our code for a command that the server does not know.
const UNKNOWN_COMMAND: &str = "UNKNOWN";

/// Error codes by a part of the error's text; the first match counts. Several errors have no code but `ERR`. Servers
/// before version 7 put the cause of a script's failure, with its code, only into the text.
const CODES_IN_TEXTS: &[(&str, &str)] = &[
    ("would overflow", OVERFLOW),
    ("WRONGTYPE", "WRONGTYPE"),
    ("not an integer", "WRONGTYPE"),
    ("OOM", "OOM"),
    ("READONLY", "READONLY"),
    ("ACL failure", "NOPERM"),
    ("permissions", "NOPERM"),
    ("can't run this command", "NOPERM"),
    ("unknown command", UNKNOWN_COMMAND),
];

impl From<RedisError> for Fault {
    fn from(error: RedisError) -> Self {
        match error.kind() {
            Said::Server(_) | Said::Extension => reported(&error),
            Said::AuthenticationFailed => Self::login_refused(error),
            // A reply of an unexpected shape does not go away by itself.
            Said::Parse | Said::UnexpectedReturnType | Said::InvalidClientConfig => {
                Self::refused(error.to_string())
            }
            _ if is_certificate(&error) => Self::refused(error.to_string()),
            _ => {
                let told = beneath::<io::Error>(&error).and_then(cause_of);
                Self::away(Cause::from(error.to_string()).told(told))
            }
        }
    }
}

/// The fault for an error reported by the server. Temporary errors evict the shard, and its timed rescue probes it
/// again.
fn reported(error: &RedisError) -> Fault {
    let (code, detail) = (error.code().unwrap_or_default(), error.detail().unwrap_or_default());
    let hinted = |hint: &str| Cause::from(format!("{error}{hint}"));
    match meant(code, detail) {
        OVERFLOW => Fault::answer(ErrorKind::Exhausted, format!("{code} {detail}")),
        "WRONGTYPE" => Fault::answer(ErrorKind::Regressed, format!("found no cell: {code} {detail}")),
        "OOM" => Fault::away(hinted(": its memory is full; raise its maxmemory, or have it hold less")),
        "READONLY" => {
            let cause = hinted(": it is a replica, and takes no writes; name the primary");
            Fault::away(cause.told(Why::ReadOnly))
        }
        "LOADING" => Fault::away(hinted(": it is reading its data")),
        "BUSY" => Fault::away(hinted(": a script of somebody else runs")),
        "NOAUTH" => Fault::login_refused(hinted(": it asks for a login")),
        "WRONGPASS" => Fault::login_refused(error),
        "NOPERM" => {
            Fault::refused(hinted(": the user lacks a permission; the documentation lists what it needs"))
        }
        "MOVED" | "ASK" | "CROSSSLOT" | "CLUSTERDOWN" => Fault::refused(hinted(CLUSTER)),
        UNKNOWN_COMMAND => Fault::refused(hinted(": Redis 5 or later, or Valkey, is needed")),
        _ => Fault::away(hinted("")),
    }
}

/// The error code, or the one that the text stands for if the code is generic.
fn meant<'a>(code: &'a str, detail: &str) -> &'a str {
    let in_text = || CODES_IN_TEXTS.iter().find(|(part, _)| detail.contains(part));
    if code == "ERR" { in_text().map_or(code, |(_, code)| code) } else { code }
}

/// Whether the server's certificate was rejected; that does not go away by itself.
fn is_certificate(error: &RedisError) -> bool {
    let in_io = || beneath::<io::Error>(error)?.get_ref()?.downcast_ref();
    matches!(
        beneath::<rustls::Error>(error).or_else(in_io),
        Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented)
    )
}

/// The source of the error, if it has this type. The driver wraps it in an `Arc`.
fn beneath<T: Error + 'static>(error: &RedisError) -> Option<&T> {
    error.source()?.downcast_ref::<Arc<dyn Error + Send + Sync>>()?.downcast_ref()
}

#[cfg(test)]
mod tests {
    use redis::make_extension_error;

    use super::*;

    #[test]
    fn what_comes_and_goes_evicts_and_what_a_person_must_mend_is_refused() {
        for (code, detail, kind) in [
            ("ERR", "increment or decrement would overflow script: 1", ErrorKind::Exhausted),
            ("WRONGTYPE", "Operation against a key", ErrorKind::Regressed),
            ("ERR", "Error running script: @user_script: 5: WRONGTYPE Operation", ErrorKind::Regressed),
            ("OOM", "command not allowed when used memory > 'maxmemory'", ErrorKind::Unavailable),
            ("READONLY", "You can't write against a read only replica", ErrorKind::Unavailable),
            ("LOADING", "Redis is loading the dataset in memory", ErrorKind::Unavailable),
            ("BUSY", "Redis is busy running a script", ErrorKind::Unavailable),
            ("NOAUTH", "Authentication required.", ErrorKind::Refused),
            ("NOPERM", "this user has no permissions to run the 'info' command", ErrorKind::Refused),
            ("ERR", "ACL failure in script: User sequent has no permissions", ErrorKind::Refused),
            ("ERR", "The user executing the script can't run this command or subcommand", ErrorKind::Refused),
            ("MOVED", "3999 127.0.0.1:6381", ErrorKind::Refused),
            ("ERR", "something new", ErrorKind::Unavailable),
        ] {
            let error = make_extension_error(code.to_owned(), Some(detail.to_owned()));
            assert_eq!(Fault::from(error).into_error("take").kind(), kind, "{code} {detail}");
        }
    }

    #[test]
    fn a_memory_that_is_full_says_nothing_of_a_policy_that_nobody_has_read() {
        let detail = "command not allowed when used memory > 'maxmemory'.";
        let error = Fault::from(make_extension_error("OOM".to_owned(), Some(detail.to_owned())));
        let text = error.into_error("take").to_string();
        assert!(
            text.contains("its memory is full; raise its maxmemory") && !text.contains("policy"),
            "{text}"
        );
    }

    #[test]
    fn callers_are_told_what_the_server_and_the_system_say() {
        let why = |error: RedisError| Fault::from(error).into_error("take").why();
        for (code, told) in [
            ("READONLY", Some(Why::ReadOnly)),
            ("NOAUTH", Some(Why::LoginRefused)),
            ("WRONGPASS", Some(Why::LoginRefused)),
            ("OOM", None),
        ] {
            assert_eq!(why(make_extension_error(code.to_owned(), None)), told, "{code}");
        }
        for (kind, told) in [
            (io::ErrorKind::ConnectionRefused, Why::ConnectionRefused),
            (io::ErrorKind::BrokenPipe, Why::ConnectionLost),
            (io::ErrorKind::UnexpectedEof, Why::ConnectionLost),
            (io::ErrorKind::TimedOut, Why::TimedOut),
        ] {
            assert_eq!(why(io::Error::from(kind).into()), Some(told), "{kind}");
        }
    }

    #[test]
    fn a_certificate_that_is_not_accepted_is_refused() {
        let refused = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let error = io::Error::new(io::ErrorKind::InvalidData, refused);
        assert_eq!(Fault::from(RedisError::from(error)).into_error("take").kind(), ErrorKind::Refused);
    }
}
