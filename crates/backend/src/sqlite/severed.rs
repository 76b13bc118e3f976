//! Files whose log was taken away under a connection of this process: it must not touch them again.
//!
//! SQLite keeps the `-shm` of a file for all connections of a process, by the file's inode. As long as one of them
//! holds a log that is gone, a new connection would share its index and spoil the file; and to close the one would
//! write the gone log into the file. So both are left alone until the process ends, or another file is in the place.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use sequent_core::ErrorKind;

use super::{fault::Fault, place::FileId};

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
        restart this process to use the file as it is now";
    Fault::broken(ErrorKind::Unavailable, cause)
}
