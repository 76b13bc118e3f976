//! SQLite and driver errors as faults.

use sequent_core::Why;

use super::disk_gate::ANSWER_MAX;
use crate::net::{Cause, Fault, cause_of};

/// The fault of a disk that does not answer in time.
pub(super) fn mute() -> Fault {
    let limit = ANSWER_MAX.as_millis();
    Fault::Mute(format!("the disk under it does not answer: no word within {limit} ms").into())
}

/// Whether a connection must be kept for now, neither used nor closed.
pub(super) fn forbids_closing(fault: &Fault) -> bool {
    matches!(fault, Fault::Frozen(_) | Fault::Mute(_))
}

/// The fault for an error of SQLite or of the driver.
#[allow(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
pub(crate) fn from_driver(error: sqlx::Error) -> Fault {
    let reported = match &error {
        sqlx::Error::Database(reported) => reported,
        // The file has a value of another type, which only an operator can have written.
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
            return Fault::refused(error.to_string());
        }
        sqlx::Error::Io(below) => return Fault::away(Cause::from(error.to_string()).told(cause_of(below))),
        _ => return Fault::away(error.to_string()),
    };
    let extended: i32 = reported.code().and_then(|code| code.parse().ok()).unwrap_or(-1);
    let (name, fault) = meaning(extended & 0xff);
    let hint = match extended & 0xff {
        _ if extended == SHM_SIZE => ", the disk may be full",
        CORRUPT | NOTADB => {
            ": the file is damaged: restore it from a copy; if it is a shard's and lost for good, remove it and \
             restart this process"
        }
        _ => "",
    };
    let told = match extended & 0xff {
        FULL => Some(Why::DiskFull),
        READONLY => Some(Why::ReadOnly),
        _ => None,
    };
    let cause = Cause::from(format!("{name} ({extended}): {}{hint}", reported.message())).told(told);
    fault(cause)
}

/// `SQLITE_IOERR_SHMSIZE`: the wal-index could not grow. Its text is only "disk I/O error".
const SHM_SIZE: i32 = 4874;

const READONLY: i32 = 8;
pub(crate) const CORRUPT: i32 = 11;
const FULL: i32 = 13;
pub(crate) const NOTADB: i32 = 26;

/// The fault of SQLite's primary result codes. Temporary errors evict the shard, and its timed rescue probes it
/// again. Errors that an operator has to correct (a missing table, an invalid value) are refused. A damaged file may be
/// either.
fn meaning(primary: i32) -> (&'static str, fn(Cause) -> Fault) {
    match primary {
        1 => ("SQLITE_ERROR", Fault::refused),
        3 => ("SQLITE_PERM", Fault::away),
        5 => ("SQLITE_BUSY", Fault::Busy),
        6 => ("SQLITE_LOCKED", Fault::Busy),
        7 => ("SQLITE_NOMEM", Fault::away),
        READONLY => ("SQLITE_READONLY", Fault::away),
        10 => ("SQLITE_IOERR", Fault::away),
        CORRUPT => ("SQLITE_CORRUPT", Fault::Damaged),
        FULL => ("SQLITE_FULL", Fault::away),
        14 => ("SQLITE_CANTOPEN", Fault::away),
        // "locking protocol": many readers raced for a slot of the wal-index.
        15 => ("SQLITE_PROTOCOL", Fault::Busy),
        17 => ("SQLITE_SCHEMA", Fault::refused),
        19 => ("SQLITE_CONSTRAINT", Fault::refused),
        20 => ("SQLITE_MISMATCH", Fault::refused),
        NOTADB => ("SQLITE_NOTADB", Fault::Damaged),
        _ => ("SQLite", Fault::away),
    }
}
