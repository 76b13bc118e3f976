//! Files for tests, and what an operator does to them.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime},
};

use sequent_backend::sqlite::{SqliteLedger, SqliteOptions, SqliteStore};
use sequent_core::{Clock, Env, Epoch, ErrorKind, Key, SourceError, SystemClock};
use sqlx::{Connection, SqliteConnection};
use tempfile::TempDir;

/// The machine's clock, moved forward by hand.
#[derive(Debug, Default)]
pub(crate) struct StepClock(Mutex<Duration>);

impl StepClock {
    pub(crate) fn step(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for StepClock {
    fn now(&self) -> Instant {
        SystemClock.now() + *self.0.lock().unwrap()
    }

    fn wall(&self) -> SystemTime {
        SystemClock.wall() + *self.0.lock().unwrap()
    }
}

/// A directory with one database in it.
pub(crate) struct Site {
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) clock: Arc<StepClock>,
}

impl Site {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("the file.db");
        Self { folder, path, clock: Arc::default() }
    }

    pub(crate) fn options(&self) -> SqliteOptions {
        SqliteOptions { create: true, env: Env { clock: self.clock.clone(), ..Env::default() } }
    }

    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::new(&self.path, self.options())
    }

    pub(crate) fn ledger(&self) -> SqliteLedger {
        SqliteLedger::new(&self.path, self.options())
    }

    pub(crate) fn beside(&self, suffix: &str) -> PathBuf {
        beside(&self.path, suffix)
    }

    /// Copies the database and its log, as a backup would.
    pub(crate) fn backup(&self, to: &Path) {
        for suffix in ["", "-wal"] {
            let from = self.beside(suffix);
            remove(&beside(to, suffix));
            if from.exists() {
                copy(&from, &beside(to, suffix));
            }
        }
    }

    /// Moves a copy of the backup into place, by renames alone.
    pub(crate) fn restore(&self, from: &Path) {
        let staged = self.folder.path().join("staged");
        for suffix in ["-wal", ""] {
            let (source, staged) = (beside(from, suffix), beside(&staged, suffix));
            remove(&staged);
            if source.exists() {
                copy(&source, &staged);
            }
        }
        remove(&self.beside("-wal"));
        remove(&self.beside("-shm"));
        for suffix in ["-wal", ""] {
            let staged = beside(&staged, suffix);
            if staged.exists() {
                std::fs::rename(staged, self.beside(suffix)).unwrap();
            }
        }
    }

    /// A connection that knows nothing of Sequent.
    pub(crate) async fn stranger(&self) -> SqliteConnection {
        SqliteConnection::connect(self.path.to_str().unwrap()).await.unwrap()
    }
}

pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// By another process: closing a descriptor of a file in this one would drop SQLite's locks on it.
pub(crate) fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg(from).arg(to).status().unwrap();
    assert!(done.success(), "cp {} {}", from.display(), to.display());
}

pub(crate) fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{}", path.display());
    }
}

/// The names in the directory, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn key(text: &str) -> Key {
    Key::from_stored(text)
}

pub(crate) fn epoch(bits: i64) -> Epoch {
    Epoch::from_stored(bits)
}

/// Asserts that a verb failed for this reason, and that its text names the path and each of `parts`.
#[track_caller]
pub(crate) fn failed<T: std::fmt::Debug>(answer: Result<T, SourceError>, kind: ErrorKind, parts: &[&str]) {
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    for part in ["the file.db"].iter().chain(parts) {
        assert!(error.to_string().contains(part), "{part:?} is not in {error}");
    }
}
