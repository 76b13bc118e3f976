//! Free space on a database's disk. A log that was grown before accepts small writes on a full disk until it must grow.
//! So a successful write proves nothing about the next one.

use std::path::Path;

use sequent_core::Why;

use crate::net::{Cause, Fault};

/// Below this many bytes, a log may not have space for the pages of one statement.
const ROOM_MIN_BYTES: u64 = 64 * 1024;

/// Fails for a disk that is almost full. If the free space is unknown, the check passes.
pub(super) fn check(path: &Path) -> Result<(), Fault> {
    let Ok(found) = rustix::fs::statvfs(path) else { return Ok(()) };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free >= ROOM_MIN_BYTES {
        return Ok(());
    }
    let text = format!("the disk is full: {free} bytes are free, at least {ROOM_MIN_BYTES} are needed");
    Err(Fault::away(Cause::from(text).told(Why::DiskFull)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_room_and_a_path_that_is_none_are_no_fault() {
        assert!(check(Path::new(env!("CARGO_MANIFEST_DIR"))).is_ok());
        assert!(check(Path::new("/no/such/path")).is_ok());
    }
}
