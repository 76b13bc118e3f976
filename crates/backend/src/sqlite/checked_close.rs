//! A connection that is closed only over its own files: the look before the close.
//!
//! To close a connection is to write. The last one to leave a file copies its log into the file and removes what is at
//! the log's name. If the log was taken away and another one has come, that would put old pages over what others have
//! counted since, and remove what a process that was killed had acknowledged: numbers would be given again. (A file that
//! was moved away is no such case: SQLite compares the inodes itself, and then leaves the names alone.) So every way
//! out goes by the same look: a connection given up, a verb dropped midway, a store that was never disconnected.

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{
    connection::options,
    fault::{forbids_closing, from_driver},
    place::{FileId, Found, Place},
    poisoned_files,
};
use crate::net::Fault;

/// What a close would do to the files as they are now.
enum Parting {
    /// It may be closed.
    Free,
    /// It would write into files that may not be written, which ends the process; or nobody knows into what.
    Barred,
    /// It would write a log that is gone.
    Severed,
}

/// The connection, and which files are its own.
#[derive(Debug)]
pub(super) struct CheckedClose {
    place: Place,
    file: FileId,
    /// The inodes of `-wal` and `-shm`, seen right after the opening; `None` before.
    beside: Option<[Option<u64>; 2]>,
    /// `None` once it was closed.
    connection: Option<SqliteConnection>,
}

impl CheckedClose {
    /// Connects to a file that is there.
    pub(super) async fn open(place: &Place, file: FileId) -> Result<Self, Fault> {
        let connection = Some(options(place.path()).connect().await.map_err(from_driver)?);
        Ok(Self { place: place.clone(), file, beside: None, connection })
    }

    /// What statements run on.
    pub(super) fn connection(&mut self) -> Result<&mut SqliteConnection, Fault> {
        let closed = || Fault::away("the connection is closed");
        self.connection.as_mut().ok_or_else(closed)
    }

    /// Where the file is.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Which file this is a connection to.
    pub(super) fn file(&self) -> FileId {
        self.file
    }

    /// Notes which `-wal` and `-shm` are the connection's own.
    pub(super) fn settle_on(&mut self, found: &Found) {
        self.beside = Some(found.beside);
    }

    /// Whether `-wal` or `-shm` was taken away or replaced: SQLite does neither while a connection is open.
    pub(super) fn is_severed(&self, found: &Found) -> bool {
        self.file == found.file && self.beside.is_some_and(|own| own != found.beside)
    }

    /// Closes the connection once whatever runs on it has ended; whether it is gone. A severed one is left alone for
    /// good. One whose files may not be written, or whose disk does not answer, is kept: it can be closed later.
    pub(super) async fn part(&mut self) -> bool {
        let Some(connection) = &mut self.connection else { return true };
        // A statement whose caller went away runs on: a look before its end would come too early.
        let _ = connection.ping().await;
        let found = self.place.outline().await;
        match self.judge(&found) {
            Parting::Barred => return false,
            Parting::Severed => self.abandon(),
            Parting::Free => {
                if let Some(connection) = self.connection.take() {
                    // One that can't be closed well is gone all the same; what it had committed is in the file.
                    let _ = connection.close().await;
                }
            }
        }
        true
    }

    fn judge(&self, found: &Result<Option<Found>, Fault>) -> Parting {
        match found {
            Err(fault) if forbids_closing(fault) => Parting::Barred,
            Ok(Some(found)) if self.is_severed(found) => Parting::Severed,
            _ => Parting::Free,
        }
    }

    /// Lets go of a severed connection without closing it: its thread and its locks end with the process.
    fn abandon(&mut self) {
        poisoned_files::note(self.file);
        std::mem::forget(self.connection.take());
    }
}

impl Drop for CheckedClose {
    /// Whoever drops it has no runtime to wait on: the look blocks, and the connection's own thread closes it.
    fn drop(&mut self) {
        if self.connection.is_none() {
            return;
        }
        match self.judge(&self.place.outline_now()) {
            Parting::Free => {}
            Parting::Severed => self.abandon(),
            Parting::Barred => std::mem::forget(self.connection.take()),
        }
    }
}
