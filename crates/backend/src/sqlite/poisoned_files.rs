//! Files whose log was taken away under a connection of this process: it must not touch them again.
//!
//! There is no way back to the file within this process:
//!
//! - SQLite keeps the `-shm` of a file for all connections of a process, by the file's inode. As long as one of them
//!   holds a log that is gone, a new connection would read a new log by the index of the old one, and spoil the file.
//! - To close the one would write the gone log into the file, over whatever a copy or other processes have brought there
//!   since, and remove what is at the log's name. Whether somebody has been there meanwhile, nothing tells: not even the
//!   same log put back, which others may have missed for a while.
//!
//! So both are left alone until the process ends. What the log held may be lost: the guard's `seen`, which the last show
//! up has reported, keeps the next process from giving it again. Another file in the place (a copy *moved* there) is
//! another instance, opens a new epoch, and is taken up at once.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use super::place::FileId;
use crate::net::Fault;

/// Grows by one with each mishap of this kind, as do the connections that are left alone.
static SEVERED: Mutex<BTreeSet<FileId>> = Mutex::new(BTreeSet::new());

/// Notes that the file is not to be touched any more.
pub(super) fn note(file: FileId) {
    SEVERED.lock().unwrap_or_else(PoisonError::into_inner).insert(file);
}

/// Fails for a file that is not to be touched any more.
pub(super) fn check(file: FileId) -> Result<(), Fault> {
    if SEVERED.lock().unwrap_or_else(PoisonError::into_inner).contains(&file) {
        return Err(fault());
    }
    Ok(())
}

/// What is said of such a file.
pub(super) fn fault() -> Fault {
    let cause = "its -wal or -shm was removed or replaced while this process used it (a copy put over the file?): \
        restart this process to use the file as it is now, or move a whole copy into its place";
    Fault::away(cause)
}
