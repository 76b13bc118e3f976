//! Poisoned files: their log was removed under a connection of this process, which must not use them again.
//!
//! This process can't return to the file, for two reasons:
//!
//! - SQLite keeps the `-shm` of a file for all connections of a process, by the file's inode. While one of them has a
//!   removed log open, a new connection would read a new log by the index of the old one, and damage the file.
//! - A close of that connection would write the removed log into the file, over newer data of a copy or of other
//!   processes, and delete the file at the log's name. Such changes can't be detected, not even if the same log was put
//!   back: other processes may have missed it for a while.
//!
//! So file and connection are left alone until the process ends. The contents of the log may be lost. The next process
//! does not give them again, because the last heartbeat has reported `seen` to the ledger. Another file at the path (a
//! copy *moved* there) is another instance, begins a new epoch, and is used at once.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use super::file_identity::FileId;
use crate::net::Fault;

/// The files. It grows by one with each such incident, as does the number of leaked connections.
static SEVERED: Mutex<BTreeSet<FileId>> = Mutex::new(BTreeSet::new());

/// Marks the file as poisoned.
pub(super) fn note(file: FileId) {
    SEVERED.lock().unwrap_or_else(PoisonError::into_inner).insert(file);
}

/// Fails for a poisoned file.
pub(super) fn check(file: FileId) -> Result<(), Fault> {
    if SEVERED.lock().unwrap_or_else(PoisonError::into_inner).contains(&file) {
        return Err(fault());
    }
    Ok(())
}

/// The fault for a poisoned file.
pub(super) fn fault() -> Fault {
    let cause = "its -wal or -shm was removed or replaced while this process used it (a copy put over the file?): \
        restart this process to use the file as it is now, or move a whole copy into its place";
    Fault::away(cause)
}
