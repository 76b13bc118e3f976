//! Checked close of a connection: it is closed only if its files are still its own.
//!
//! A close can write. The last connection of a file copies its log into the file and deletes the file at the log's
//! name. If the log was removed and another one is there, the close would write old pages over newer counts, and delete
//! what a killed process had acknowledged: numbers would repeat.
//!
//! (A file that was moved away is safe: SQLite compares the inodes itself and leaves the names alone.)
//!
//! So every close runs this check: of a connection given up, of a call dropped midway, of a store that was never
//! disconnected.

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{
    connection::options,
    fault::{forbids_closing, from_driver},
    file_identity::{FileId, Found, Place},
    poisoned_files,
};
use crate::net::Fault;

/// The effect that a close would have on the files as they are now.
enum CloseEffect {
    /// The connection may be closed.
    Free,
    /// A close would write to files that can't be written, which would kill the process, or the files' state is
    /// unknown.
    Barred,
    /// A close would write a log that was removed.
    Severed,
}

/// The connection, and the identity of its files.
#[derive(Debug)]
pub(super) struct CheckedClose {
    /// The path of the file.
    pub(super) place: Place,
    /// The identity of the file.
    pub(super) file: FileId,
    /// The inodes of `-wal` and `-shm`, read right after the opening; `None` before.
    beside: Option<[Option<u64>; 2]>,
    /// `None` after the close.
    connection: Option<SqliteConnection>,
}

impl CheckedClose {
    /// Connects to an existing file.
    pub(super) async fn open(place: &Place, file: FileId) -> Result<Self, Fault> {
        let connection = Some(options(place.path()).connect().await.map_err(from_driver)?);
        Ok(Self { place: place.clone(), file, beside: None, connection })
    }

    /// The connection for statements.
    pub(super) fn connection(&mut self) -> Result<&mut SqliteConnection, Fault> {
        let closed = || Fault::away("the connection is closed");
        self.connection.as_mut().ok_or_else(closed)
    }

    /// Records the `-wal` and `-shm` of this connection, read right after the opening.
    pub(super) fn settle_on(&mut self, found: &Found) {
        self.beside = Some(found.beside);
    }

    /// Whether `-wal` or `-shm` was removed or replaced. SQLite does neither while a connection is open.
    pub(super) fn is_severed(&self, found: &Found) -> bool {
        self.file == found.file && self.beside.is_some_and(|own| own != found.beside)
    }

    /// Closes the connection after its last statement; returns whether it is gone. A severed connection is never
    /// closed. If its files can't be written, or the disk does not answer, it is kept and can be closed later.
    pub(super) async fn part(&mut self) -> bool {
        let Some(connection) = &mut self.connection else { return true };
        // A statement continues after its caller is dropped. A check before its end would be too early.
        let _ = connection.ping().await;
        let found = self.place.outline().await;
        match self.judge(&found) {
            CloseEffect::Barred => return false,
            CloseEffect::Severed => self.abandon(),
            CloseEffect::Free => {
                if let Some(connection) = self.connection.take() {
                    // A connection that fails to close is gone all the same. Its commits are in the file.
                    let _ = connection.close().await;
                }
            }
        }
        true
    }

    fn judge(&self, found: &Result<Option<Found>, Fault>) -> CloseEffect {
        match found {
            Err(fault) if forbids_closing(fault) => CloseEffect::Barred,
            Ok(Some(found)) if self.is_severed(found) => CloseEffect::Severed,
            _ => CloseEffect::Free,
        }
    }

    /// Leaks a severed connection without closing it. Its thread and its locks end with the process.
    fn abandon(&mut self) {
        poisoned_files::note(self.file);
        std::mem::forget(self.connection.take());
    }
}

impl Drop for CheckedClose {
    /// A drop can't await. The check blocks, and the connection's own thread closes it.
    fn drop(&mut self) {
        if self.connection.is_none() {
            return;
        }
        match self.judge(&self.place.outline_now()) {
            CloseEffect::Free => {}
            CloseEffect::Severed => self.abandon(),
            CloseEffect::Barred => std::mem::forget(self.connection.take()),
        }
    }
}
