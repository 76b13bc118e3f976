//! MySQL and driver errors as faults.

use mysql_async::{DriverError, Error, IoError, ServerError};
use sequent_core::{Condition, ErrorKind, SourceError, Why};

use crate::net::{Cause, Fault, is_tls};

/// The user lacks a privilege on the table.
const ER_TABLEACCESS_DENIED: u16 = 1142;
/// A value is out of range for BIGINT.
const ER_OUT_OF_RANGE: u16 = 1690;
/// The table does not exist.
pub(super) const ER_NO_SUCH_TABLE: i32 = 1146;
/// No database is selected: the connection's one was dropped.
const ER_NO_DB: u16 = 1046;
/// The database does not exist.
const ER_BAD_DB: u16 = 1049;
/// A text for a time that is none.
pub(super) const ER_WRONG_VALUE: i32 = 1292;
/// A unique key exists already.
pub(super) const ER_DUP_ENTRY: i32 = 1062;
/// No next id: MySQL's code, MariaDB's code, and the code of a column out of range.
pub(super) const ER_AUTOINC: [i32; 3] = [1467, 167, 1264];
/// A lock wait timed out. Only the statement was undone.
const ER_LOCK_WAIT_TIMEOUT: u16 = 1205;
/// A deadlock. The transaction was undone.
const ER_DEADLOCK: u16 = 1213;
/// The disk is full.
const ER_DISK_FULL: u16 = 1021;
/// The server runs with `read_only`, or in another mode without writes.
const ER_OPTION_PREVENTS_STATEMENT: u16 = 1290;
const ER_READ_ONLY_MODE: u16 = 1836;
/// The row changed after this transaction's snapshot.
const ER_CHECKREAD: u16 = 1020;

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Server(said) => of_server(&said),
            // Options that the driver can't fulfil need an operator. A broken connection is temporary.
            Error::Driver(said) => match &said {
                DriverError::ConnectionClosed | DriverError::PoolDisconnected => Self::lost(said.to_string()),
                DriverError::PacketOutOfOrder | DriverError::UnexpectedPacket { .. } => {
                    Self::away(said.to_string())
                }
                _ => Self::refused(said.to_string()),
            },
            Error::Io(IoError::Tls(said)) => Self::refused(format!("TLS: {said}")),
            // An untrusted certificate does not become trusted by itself.
            Error::Io(IoError::Io(said)) if is_tls(&said) => Self::refused(format!("TLS: {said}")),
            Error::Io(IoError::Io(said)) => Self::away(Cause::of_io(&said)),
            other => Self::away(other.to_string()),
        }
    }
}

fn of_server(said: &ServerError) -> Fault {
    let hint = hint(said.code, &said.message);
    let cause = Cause::from(format!("{} ({}): {}{hint}", said.code, said.state, said.message));
    match said.code {
        ER_DEADLOCK | ER_CHECKREAD => Fault::Busy(cause),
        // The lock was already awaited for a second, so an immediate retry would be useless.
        ER_LOCK_WAIT_TIMEOUT => SourceError::new(ErrorKind::Contended, "a lock").because(cause).into(),
        // The only sum made by the server is that of a take.
        ER_OUT_OF_RANGE => Fault::answer(ErrorKind::Exhausted, cause.to_string()),
        ER_TABLEACCESS_DENIED => Fault::Denied(cause),
        ER_DISK_FULL => Fault::away(cause.told(Why::DiskFull)),
        ER_OPTION_PREVENTS_STATEMENT | ER_READ_ONLY_MODE => Fault::away(cause.told(Why::ReadOnly)),
        code if LOGIN.contains(&code) => Fault::login_refused(cause),
        code => Fault::Server(code.into(), meaning(code), cause.with(condition(code))),
    }
}

/// The missing object that a code reports.
fn condition(code: u16) -> Option<Condition> {
    match code {
        ER_NO_DB | ER_BAD_DB => Some(Condition::DatabaseMissing),
        code if i32::from(code) == ER_NO_SUCH_TABLE => Some(Condition::TablesMissing),
        _ => None,
    }
}

/// Codes for a failed login: user, password, host, or the right to use the database.
const LOGIN: [u16; 13] = [1044, 1045, 1130, 1251, 1275, 1524, 1698, 1820, 1862, 3118, 3159, 3878, 4151];

/// Codes for a missing database and for missing grants.
const GRANTS: [u16; 8] = [ER_NO_DB, ER_BAD_DB, 1095, 1141, ER_TABLEACCESS_DENIED, 1143, 1227, 1370];

/// Codes for a missing table or column, an unknown statement, and a value that does not fit.
const SCHEMA: [u16; 13] = [1146, 1048, 1054, 1064, 1147, 1148, 1193, 1264, 1286, 1292, 1364, 1366, 1406];

/// The kind of an error code. Temporary errors evict the shard, and its timed rescue probes it again. Errors that an
/// operator has to correct (grants, schema, unknown statements) are refused. So is a failed login, except on a server
/// that this process has logged in to before.
fn meaning(code: u16) -> ErrorKind {
    match code {
        code if GRANTS.contains(&code) || SCHEMA.contains(&code) => ErrorKind::Refused,
        _ => ErrorKind::Unavailable,
    }
}

fn hint(code: u16, message: &str) -> String {
    match code {
        1044 | 1045 if message.contains("user ''@") => {
            format!(": the server took it for an anonymous user of its own; {ANONYMOUS}")
        }
        1044 | 1142 | 1143 | 1227 => ": docs/operating/stores/mysql.md has the grants".to_owned(),
        1045 => format!(": is it the right user in the url, and the right password? if so, {ANONYMOUS}"),
        ER_BAD_DB => ": create the database, or name another one".to_owned(),
        ER_NO_DB => ": the database is gone, and was dropped while this process used it".to_owned(),
        1146 => ": the tables are gone, or were never made here".to_owned(),
        _ => String::new(),
    }
}

/// Hint for a rejected login. MySQL matches rows with an exact host first, whatever their user, yet its message names
/// the user that logged in.
const ANONYMOUS: &str = "look for anonymous users (SELECT host FROM mysql.user WHERE user = ''), which a fresh server may have: \
    on those hosts they come before 'user'@'%'; DROP USER ''@'localhost', or create the user for that host, too";

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: u16) -> Fault {
        let (message, state) = ("said".to_owned(), "HY000".to_owned());
        Fault::from(Error::Server(mysql_async::ServerError { code, message, state }))
    }

    #[test]
    fn an_anonymous_user_that_comes_first_is_spoken_of() {
        for (code, message, part) in [
            (
                1045,
                "Access denied for user 's'@'localhost' (using password: YES)",
                "if so, look for anonymous users",
            ),
            (
                1044,
                "Access denied for user ''@'localhost' to database 'x'",
                "took it for an anonymous user of its own",
            ),
            (1044, "Access denied for user 's'@'%' to database 'x'", "has the grants"),
        ] {
            let (message, state) = (message.to_owned(), "28000".to_owned());
            let fault = Fault::from(Error::Server(mysql_async::ServerError { code, message, state }));
            let text = fault.into_error("inspect").to_string();
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn what_is_gone_is_told_as_that_and_no_word_is_named_that_no_operator_has() {
        for (code, part, condition) in [
            (1046, "the database is gone", Some(Condition::DatabaseMissing)),
            (1049, "create the database", Some(Condition::DatabaseMissing)),
            (1146, "the tables are gone", Some(Condition::TablesMissing)),
            (1054, "1054", None),
        ] {
            let error = said(code).into_error("write ledger");
            let text = error.to_string();
            assert!(text.contains(part) && !text.contains("`create`"), "{text}");
            assert_eq!(error.condition(), condition, "{text}");
        }
    }

    #[test]
    fn codes_become_kinds() {
        for (code, kind) in [
            (1213, ErrorKind::Contended),
            (1205, ErrorKind::Contended),
            (1045, ErrorKind::Refused),
            (1142, ErrorKind::Refused),
            (1146, ErrorKind::Refused),
            (1046, ErrorKind::Refused),
            (1690, ErrorKind::Exhausted),
            (1040, ErrorKind::Unavailable),
            (1053, ErrorKind::Unavailable),
            (1290, ErrorKind::Unavailable),
            (1114, ErrorKind::Unavailable),
        ] {
            assert_eq!(said(code).into_error("take").kind(), kind, "{code}");
        }
    }

    #[test]
    fn who_was_let_in_before_may_be_again_and_what_it_lacks_does_not_come_back() {
        for (code, kind) in [
            (1044, ErrorKind::Unavailable),
            (1045, ErrorKind::Unavailable),
            (4151, ErrorKind::Unavailable),
            (1049, ErrorKind::Refused),
            (1142, ErrorKind::Refused),
            (1146, ErrorKind::Refused),
        ] {
            let error = said(code).of_known_server().into_error("take");
            assert_eq!(error.kind(), kind, "{code}");
            assert_eq!(
                error.to_string().contains("login refused"),
                kind == ErrorKind::Unavailable,
                "{error}"
            );
        }
    }
}
