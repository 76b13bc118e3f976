//! What SQLite says, and who must react.

use std::fmt;

use sequent_core::{ErrorKind, SourceError};

use super::turns::ANSWER_MAX;
use crate::why;

/// Why a verb did not come to its end.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Somebody else holds the lock: nothing was done, it is tried again within a bound.
    Busy(Cause),
    /// The file or the connection failed: the connection is given up.
    Broken(ErrorKind, Cause),
    /// What the file holds makes no sense: it is damaged, or a copy is being put over it just now. The connection is
    /// given up.
    Damaged(Cause),
    /// The files can't be written any more: the connection stays as it is, because even closing it would write.
    Frozen(Cause),
    /// The disk does not answer: the connection stays as it is, because what a close would do nobody can tell.
    Mute(Cause),
    /// The verb's own answer: the connection is sound.
    Answer(SourceError),
}

/// SQLite's code and text, or what else was found.
#[derive(Debug)]
pub(crate) struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cause {}

impl Fault {
    /// A failure of the file that SQLite did not report itself.
    pub(super) fn broken(kind: ErrorKind, cause: impl Into<String>) -> Self {
        Self::Broken(kind, Cause(cause.into()))
    }

    /// Nobody may write, not even to close.
    pub(super) fn frozen(cause: impl Into<String>) -> Self {
        Self::Frozen(Cause(cause.into()))
    }

    /// No answer from the disk, for longer than a disk needs.
    pub(super) fn mute() -> Self {
        let limit = ANSWER_MAX.as_millis();
        Self::Mute(Cause(format!("the disk under it does not answer: no word within {limit} ms")))
    }

    /// Whether a connection must be kept for now, neither used nor closed.
    pub(super) fn forbids_closing(&self) -> bool {
        matches!(self, Self::Frozen(_) | Self::Mute(_))
    }

    /// Somebody else is at work: nothing was done.
    pub(super) fn busy(cause: impl Into<String>) -> Self {
        Self::Busy(Cause(cause.into()))
    }

    /// The failure as the rooms above know it, said to have happened while doing `context`.
    pub(super) fn into_error(self, context: &str) -> SourceError {
        match self {
            Self::Busy(cause) => why::error(ErrorKind::Contended, context, cause),
            Self::Broken(kind, cause) => why::error(kind, context, cause),
            Self::Damaged(cause) => why::error(ErrorKind::Refused, context, cause),
            Self::Frozen(cause) => why::error(ErrorKind::Unavailable, context, cause),
            Self::Mute(cause) => why::error(ErrorKind::Timeout, context, cause),
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
        let sqlx::Error::Database(reported) = &error else {
            // A value of another type than ours stands in the file: only a person can have put it there.
            let ours = !matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_));
            let kind = if ours { ErrorKind::Unavailable } else { ErrorKind::Refused };
            return Self::broken(kind, error.to_string());
        };
        let extended: i32 = reported.code().and_then(|code| code.parse().ok()).unwrap_or(-1);
        let (name, reaction) = meaning(extended & 0xff);
        let hint = match extended & 0xff {
            _ if extended == SHM_SIZE => ", the disk may be full",
            CORRUPT | NOTADB => {
                ": the file is damaged: restore it from a copy; if it is a shard's and lost for good, remove it and \
                 restart this process"
            }
            _ => "",
        };
        let cause = Cause(format!("{name} ({extended}): {}{hint}", reported.message()));
        match reaction {
            Reaction::Retry => Self::Busy(cause),
            Reaction::Evict => Self::Broken(ErrorKind::Unavailable, cause),
            Reaction::Refuse => Self::Broken(ErrorKind::Refused, cause),
            Reaction::Doubt => Self::Damaged(cause),
        }
    }
}

/// `SQLITE_IOERR_SHMSIZE`: the wal-index could not grow; said as "disk I/O error" only.
const SHM_SIZE: i32 = 4874;

const CORRUPT: i32 = 11;
const NOTADB: i32 = 26;

enum Reaction {
    Retry,
    Evict,
    Refuse,
    Doubt,
}

/// SQLite's primary result codes. What comes and goes with the disk evicts, so that timed rescue brings it back;
/// what a person must mend (a table that is gone, a value that can't be ours) is refused. A damaged file may be either.
fn meaning(primary: i32) -> (&'static str, Reaction) {
    match primary {
        1 => ("SQLITE_ERROR", Reaction::Refuse),
        3 => ("SQLITE_PERM", Reaction::Evict),
        5 => ("SQLITE_BUSY", Reaction::Retry),
        6 => ("SQLITE_LOCKED", Reaction::Retry),
        7 => ("SQLITE_NOMEM", Reaction::Evict),
        8 => ("SQLITE_READONLY", Reaction::Evict),
        10 => ("SQLITE_IOERR", Reaction::Evict),
        CORRUPT => ("SQLITE_CORRUPT", Reaction::Doubt),
        13 => ("SQLITE_FULL", Reaction::Evict),
        14 => ("SQLITE_CANTOPEN", Reaction::Evict),
        // "locking protocol": many readers raced for a slot of the wal-index.
        15 => ("SQLITE_PROTOCOL", Reaction::Retry),
        17 => ("SQLITE_SCHEMA", Reaction::Refuse),
        19 => ("SQLITE_CONSTRAINT", Reaction::Refuse),
        20 => ("SQLITE_MISMATCH", Reaction::Refuse),
        NOTADB => ("SQLITE_NOTADB", Reaction::Doubt),
        _ => ("SQLite", Reaction::Evict),
    }
}
