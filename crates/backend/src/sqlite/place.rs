//! Which file is at a path now.

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

/// Which file it is, as far as the file system tells: inode and time of birth.
///
/// Not the device, which may change at a reboot. Inodes are used again soon after a deletion: the birth tells them apart.
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

/// What is at a path now: the file, the inodes of its `-wal` and `-shm`, and how many names the file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) file: FileId,
    pub(super) beside: [Option<u64>; 2],
    links: u64,
}

impl Found {
    /// Fails for a file with a second name, as in a directory that was copied by hard links (`cp -al`).
    ///
    /// Both names are one file, with one instance; but SQLite finds log and locks by the name. In use under both,
    /// each counts in a log of its own: numbers come twice, and the file is spoilt.
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

/// A path, absolute, so that a later `chdir` changes nothing and no text of it is taken for a URI; and whose turn it is to
/// ask the disk about it.
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

    /// The file that is there now, or `None`. Anything else at the path is said plainly.
    ///
    /// `Mute` where the disk does not answer in time.
    pub(super) async fn look(&self) -> Result<Option<Found>, Fault> {
        self.in_time(look).await
    }

    /// The same of a file that may be empty just now.
    pub(super) async fn outline(&self) -> Result<Option<Found>, Fault> {
        self.in_time(bare).await
    }

    /// The same where there is no runtime to wait on. It blocks, for a moment at most.
    pub(super) fn outline_now(&self) -> Result<Option<Found>, Fault> {
        // Without a turn: whoever looks in this way has a connection to let go of, and there is one of them.
        let limit = self.turns.patience().ok_or_else(mute)?;
        let ((tell, told), path) = (mpsc::sync_channel(1), Arc::clone(&self.path));
        let looking = thread::Builder::new().spawn(move || drop(tell.send(bare(&path))));
        match looking {
            Ok(_) => told.recv_timeout(limit).unwrap_or_else(|_| Err(mute())),
            Err(_) => Err(mute()),
        }
    }

    /// A step that may hang, on a thread of the runtime's for such, in its turn: however many callers come and give up, one
    /// thread hangs with the disk. The step itself has no limit; who comes while it lasts hears that the disk is mute.
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
        // SQLite takes an empty file for a new database; ours appear complete, so this one was emptied.
        Some((_, 0)) => {
            let cause = "the file is empty (0 bytes): restore it from a copy; if it is a shard's and lost for good, remove it and \
                 restart this process";
            Err(Fault::away(cause))
        }
        other => Ok(other.map(|(found, _)| found)),
    }
}

/// What is there, and how many bytes it has.
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
    let inode = |suffix| fs::metadata(beside(path, suffix)).ok().map(|found| found.ino());
    let found = Found { file, beside: ["-wal", "-shm"].map(inode), links: metadata.nlink() };
    Ok(Some((found, metadata.len())))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The first of the database's files that nobody may write any more, root included.
///
/// It must be found out beforehand: SQLite writes to `-shm` through memory, and a write there would not fail but end
/// the process (SIGBUS).
#[cfg(target_os = "linux")]
fn frozen(path: &Path) -> Option<String> {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
    let immutable = |file: &PathBuf| {
        statx(CWD, file, AtFlags::empty(), StatxFlags::empty())
            .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::IMMUTABLE))
    };
    let found = ["", "-wal", "-shm"].map(|suffix| beside(path, suffix)).into_iter().find(immutable)?;
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
        // SQLite reads what begins with `file:` as a URI, parameters and all.
        let place = Place::new("file:shard?mode=memory".into(), Arc::new(sequent_core::SystemClock));
        assert!(place.path().is_absolute() && place.path().ends_with("file:shard?mode=memory"));
    }
}
