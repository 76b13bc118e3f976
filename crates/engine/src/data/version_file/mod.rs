//! The version file (`home`): the highest ledger version that any process of this data directory has relied on.

mod file;
#[cfg(test)]
mod tests;

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustix::fs::OFlags;
use sequent_core::{Entropy, Era, ErrorKind, Mark, MarkPlace, Reply, SourceError};

use tokio::sync::Semaphore;

use super::directory::make;
use file::{Held, Identity};

/// The file's name in the data directory.
pub(crate) const FILE: &str = "home";

/// Locked while the file is replaced, so that of two processes the greater version remains.
const LOCK_FILE: &str = "home.lock";

/// The temporary file for the next content, before it replaces the version file.
const NEXT_FILE: &str = "home.next";

/// Prefix of a file that is written and removed to test whether the version file can be written; the rest is random.
const PROOF_PREFIX: &str = "home.proof.";

/// The longest pause between two attempts at the lock; each pause is random between half of it and all of it.
const LOCK_PAUSE_MAX: Duration = Duration::from_millis(10);

/// The share of an attempt's time limit for obtaining the lock: the write must fit into the rest.
const LOCK_SHARE: u32 = 2;

/// The version file of a data directory, shared by all its processes.
///
/// The file holds its own identity beside the version, and every write makes a new file. So a copied file names
/// another file than itself, even if it was copied over the file in place.
#[derive(Debug, Clone)]
pub struct VersionFile {
    data: PathBuf,
    patience: Duration,
    entropy: Arc<dyn Entropy>,
    /// Held by the thread that calls the disk. If the disk hangs, only one thread hangs with it; further callers wait
    /// without a thread.
    turn: Arc<Semaphore>,
}

/// The reason why a mark could not be read or written.
enum Fault {
    Io(io::Error),
    Copied(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The file whose lock is held while the version file is replaced. A link in its place is refused: in a directory of another
/// user it would lead to a file that this user may write.
pub(super) fn lock_file(data: &Path) -> io::Result<File> {
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    OpenOptions::new().create(true).append(true).custom_flags(no_link).open(data.join(LOCK_FILE))
}

impl VersionFile {
    /// The version file of `data`; `limit` is the time limit of an attempt.
    pub fn new(data: &Path, limit: Duration, entropy: Arc<dyn Entropy>) -> Self {
        Self {
            data: data.to_owned(),
            patience: limit / LOCK_SHARE,
            entropy,
            turn: Arc::new(Semaphore::new(1)),
        }
    }

    /// Makes the file name itself and the layout in force, whatever it named before. Used after an operator has
    /// declared the loss.
    pub async fn renew(&self, era: Option<Era>) -> Result<(), SourceError> {
        self.leave(Mark { version: 0, era }, true).await.map(drop)
    }

    /// Creates the data directory if it is absent, and tests that a version file can be written into it; changes none.
    /// Callers that must write one after an irreversible step call this before that step.
    pub async fn prepare(&self) -> Result<(), SourceError> {
        let home = self.clone();
        self.on_thread(move || Ok(home.try_directory()?)).await
    }

    fn try_directory(&self) -> io::Result<()> {
        make(&self.data)?;
        lock_file(&self.data)?;
        // A name of its own: another process may be writing the next version file.
        let proof = self.data.join(format!("{PROOF_PREFIX}{:016x}", self.entropy.bits()));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&proof)?;
        let written = file.write_all(PROOF_PREFIX.as_bytes()).and_then(|()| file.sync_all());
        fs::remove_file(&proof)?;
        written
    }

    /// The mark held, even by a copied file. Of an unreadable file, as far as it can be parsed.
    pub async fn mark(&self) -> Result<Mark, SourceError> {
        let home = self.clone();
        self.on_thread(move || Ok(home.held()?.mark)).await
    }

    fn held(&self) -> io::Result<Held> {
        Held::read(&self.path())
    }

    /// The text found instead of a version file, if it can't be parsed.
    pub async fn unreadable(&self) -> Result<Option<String>, SourceError> {
        let home = self.clone();
        self.on_thread(move || Ok(home.held()?.unreadable)).await
    }

    /// The file's path, for messages.
    pub fn path(&self) -> PathBuf {
        self.data.join(FILE)
    }

    fn judged(&self, renew: bool) -> Result<Mark, Fault> {
        let held = self.held()?;
        match (held.copied, held.unreadable) {
            (Some(how), _) if !renew => Err(Fault::Copied(how)),
            (_, Some(found)) if !renew => Err(io::Error::new(io::ErrorKind::InvalidData, found).into()),
            _ => Ok(held.mark),
        }
    }

    /// Writes the greater of both versions. The file is rewritten even if the version stays, so that an older copy
    /// always differs from it. On disk before this returns. `None` while another process has the lock.
    fn try_write(&self, mark: Mark, renew: bool) -> Result<Option<Mark>, Fault> {
        let lock = lock_file(&self.data)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let mark = self.judged(renew)?.max(mark);
        let next = self.data.join(NEXT_FILE);
        match fs::remove_file(&next) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(&next)?;
        let own = Identity::of(&file.metadata()?);
        file.write_all(Held::text(mark, &own).as_bytes())?;
        file.sync_all()?;
        fs::rename(&next, self.data.join(FILE))?;
        // The name is durable only once its directory is.
        File::open(&self.data)?.sync_all()?;
        Ok(Some(mark))
    }

    /// Tries the lock until the time for it is over. A process that holds the lock and hangs must not make this one
    /// hang.
    async fn leave(&self, mark: Mark, renew: bool) -> Result<Mark, SourceError> {
        let tries = async {
            loop {
                let home = self.clone();
                if let Some(left) = self.on_thread(move || home.try_write(mark, renew)).await? {
                    return Ok(left);
                }
                let share = f64::midpoint(1.0, self.entropy.fraction());
                tokio::time::sleep(LOCK_PAUSE_MAX.mul_f64(share)).await;
            }
        };
        tokio::time::timeout(self.patience, tries).await.unwrap_or_else(|_| {
            let (lock, limit) = (self.data.join(LOCK_FILE), self.patience.as_millis());
            let context = format!(
                "lock {}: another process held it for {limit} ms, or the disk does not answer",
                lock.display()
            );
            Err(SourceError::new(ErrorKind::Unavailable, context))
        })
    }

    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, SourceError> {
        let stopped =
            |error: &dyn std::fmt::Display| self.error(Fault::Io(io::Error::other(error.to_string())));
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|error| stopped(&error))?;
        let work = move || {
            let done = work();
            drop(turn);
            done
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| self.error(Fault::Io(io::Error::other(error))))?
            .map_err(|fault| self.error(fault))
    }

    fn error(&self, fault: Fault) -> SourceError {
        let file = self.path();
        let file = file.display();
        match fault {
            Fault::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                let context = format!(
                    "mark in {file}: {error}; what writes the marker anew repeats numbers where it is not true, so `sequent recover` \
                     says first which would be given next: `sequent recover --bump N` if this directory may be an older state; \
                     only if it holds the newest state: `sequent recover --moved`"
                );
                SourceError::new(ErrorKind::Refused, context)
            }
            Fault::Io(error) => {
                SourceError::new(ErrorKind::Unavailable, format!("mark in {file}")).because(error)
            }
            Fault::Copied(how) => {
                let context = format!(
                    "marker {file} is a copy ({how}): a directory was copied or restored; `sequent recover` says which \
                     number each answer would give next, and changes nothing; the safe one is `sequent recover --bump N`, \
                     N at least how far the numbers have come since, not how many were given (`sequent recover --help` \
                     says how to tell); only if nothing was given since it was copied, and no other copy runs: \
                     `sequent recover --moved`"
                );
                SourceError::new(ErrorKind::LedgerBehind, context)
            }
        }
    }
}

impl MarkPlace for VersionFile {
    fn bear(&self, version: u64, era: Option<Era>) -> Reply<'_, Mark> {
        Box::pin(async move {
            if version > 0 {
                return self.leave(Mark { version, era }, false).await;
            }
            let home = self.clone();
            self.on_thread(move || home.judged(false)).await
        })
    }
}

/// The version file as a recovery reads it: the mark counts, even if the file was copied.
pub struct Unjudged<'a>(pub &'a VersionFile);

impl MarkPlace for Unjudged<'_> {
    fn bear(&self, version: u64, era: Option<Era>) -> Reply<'_, Mark> {
        Box::pin(async move {
            if version > 0 { self.0.leave(Mark { version, era }, true).await } else { self.0.mark().await }
        })
    }
}
