//! Identity of the file that is at a path now.

use std::{
    fmt, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::UNIX_EPOCH,
};

use sequent_core::{Clock, Why};
use tokio::time::timeout;

use super::{
    disk_gate::{ANSWER_MAX, DiskGate},
    fault::mute,
};
use crate::net::{Cause, Fault};

/// The identity of a file: inode and creation time.
///
/// The device is not part of it, since it may change at a reboot. Inodes are reused soon after a deletion; the creation
/// time distinguishes the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileId {
    inode: u64,
    born_ns: Option<u128>,
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.born_ns {
            Some(born_ns) => write!(f, "inode={} born={born_ns}", self.inode),
            None => write!(f, "inode={} born=unknown", self.inode),
        }
    }
}

/// The state of a path: the file, the inodes of its `-wal` and `-shm`, and its number of hard links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) file: FileId,
    pub(super) beside: [Option<u64>; 2],
    links: u64,
}

impl Found {
    /// Fails for a file with a second hard link, as in a directory copied with `cp -al`.
    ///
    /// Both names are one file with one instance, but SQLite finds log and locks by the name. If both names are in use,
    /// each counts in its own log: numbers repeat, and the file is damaged.
    pub(super) fn only_name(&self) -> Result<(), Fault> {
        if self.links <= 1 {
            return Ok(());
        }
        let cause = format!(
            "the file has {links} names (hard links, as `cp -al` makes them), expected 1, and each would get a log of its \
             own: remove the other names (`find DIR -samefile FILE` finds them), or, with every process stopped, replace \
             this one by a real copy (`cp`, without -l)",
            links = self.links
        );
        Err(Fault::refused(cause))
    }
}

/// An absolute path, with the gate of its disk. A later `chdir` does not change it, and none of its text is parsed as a
/// URI.
#[derive(Debug, Clone)]
pub(super) struct Place {
    path: Arc<Path>,
    pub(super) turns: DiskGate,
}

impl Place {
    pub(super) fn new(path: PathBuf, clock: Arc<dyn Clock>) -> Self {
        let path = std::path::absolute(&path).unwrap_or(path).into();
        Self { path, turns: DiskGate::new(clock) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file that is there now, or `None`. The error names anything else at the path.
    ///
    /// `Mute` if the disk does not answer in time.
    pub(super) async fn look(&self) -> Result<Option<Found>, Fault> {
        self.in_time(look).await
    }

    /// As `look`, for a file that may be empty at the moment.
    pub(super) async fn outline(&self) -> Result<Option<Found>, Fault> {
        self.in_time(bare).await
    }

    /// As `outline`, for callers that can't await. It blocks for a moment at most.
    pub(super) fn outline_now(&self) -> Result<Option<Found>, Fault> {
        // Without a pass: only the drop of a connection calls this, and there is one connection.
        let limit = self.turns.patience().ok_or_else(mute)?;
        let ((tell, told), path) = (mpsc::sync_channel(1), Arc::clone(&self.path));
        let looking = thread::Builder::new().spawn(move || drop(tell.send(bare(&path))));
        match looking {
            Ok(_) => told.recv_timeout(limit).unwrap_or_else(|_| Err(mute())),
            Err(_) => Err(mute()),
        }
    }

    /// Runs a step that may hang, on a blocking thread that holds the pass. However many callers come and give up, one
    /// thread hangs with the disk. The step itself has no limit; a call that waits for it meanwhile gets `Mute`.
    pub(super) async fn on_thread<T: Send + 'static>(
        &self,
        step: impl FnOnce(&Path) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let turn = self.turns.next().await.ok_or_else(mute)?;
        let path = Arc::clone(&self.path);
        let stepping = tokio::task::spawn_blocking(move || {
            let done = step(&path);
            drop(turn);
            done
        });
        stepping.await.unwrap_or_else(|error| Err(Fault::away(error.to_string())))
    }

    async fn in_time(&self, see: fn(&Path) -> Seen) -> Seen {
        timeout(ANSWER_MAX, self.on_thread(see)).await.unwrap_or_else(|_| Err(mute()))
    }
}

type Seen = Result<Option<Found>, Fault>;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.path.display(), f)
    }
}

fn bare(path: &Path) -> Seen {
    Ok(outline(path)?.map(|(found, _)| found))
}

fn look(path: &Path) -> Seen {
    match outline(path)? {
        // SQLite takes an empty file for a new database. Ours appear complete, so this file was emptied.
        Some((_, 0)) => {
            let cause = "the file is empty (0 bytes): restore it from a copy; if it is a shard's and lost for good, remove it and \
                 restart this process";
            Err(Fault::away(cause))
        }
        other => Ok(other.map(|(found, _)| found)),
    }
}

/// The state of the path, and the file's size in bytes.
fn outline(path: &Path) -> Result<Option<(Found, u64)>, Fault> {
    let unusable = |cause: String| Err(Fault::away(cause));
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return unusable(error.to_string()),
    };
    if !metadata.is_file() {
        return unusable("the path holds a directory or another thing that is no file".to_owned());
    }
    if let Some(name) = frozen(path) {
        let cause = format!("{name} is read-only: it bears the attribute immutable (`chattr +i`)");
        return Err(Fault::Frozen(Cause::from(cause).told(Why::ReadOnly)));
    }
    let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    let file = FileId { inode: metadata.ino(), born_ns: born.map(|born| born.as_nanos()) };
    let inode = |suffix| fs::metadata(with_suffix(path, suffix)).ok().map(|found| found.ino());
    let found = Found { file, beside: ["-wal", "-shm"].map(inode), links: metadata.nlink() };
    Ok(Some((found, metadata.len())))
}

/// The path with this text after its end.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The first of the database's files that can't be written by anybody, root included.
///
/// This must be known before any access. SQLite writes to `-shm` through mapped memory, and a failing write there kills
/// the process (SIGBUS).
#[cfg(target_os = "linux")]
fn frozen(path: &Path) -> Option<String> {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
    let immutable = |file: &PathBuf| {
        statx(CWD, file, AtFlags::empty(), StatxFlags::empty())
            .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::IMMUTABLE))
    };
    let found = ["", "-wal", "-shm"].map(|suffix| with_suffix(path, suffix)).into_iter().find(immutable)?;
    Some(found.file_name()?.to_string_lossy().into_owned())
}

#[cfg(not(target_os = "linux"))]
fn frozen(_: &Path) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_is_taken_for_a_uri() {
        // SQLite parses text that begins with `file:` as a URI with parameters.
        let place = Place::new("file:shard?mode=memory".into(), Arc::new(sequent_core::SystemClock));
        assert!(place.path().is_absolute() && place.path().ends_with("file:shard?mode=memory"));
    }
}
