//! A shard: cells in one file.

mod cells;
mod examine;
mod identity;

use std::path::PathBuf;

use sequent_core::{
    Block, BoxFuture, Cell, ErrorKind, Examine, Incarnation, Inspection, Key, Life, SourceError, Stamp, Store,
};

use super::{
    SqliteOptions,
    database::Database,
    fault::Fault,
    link::{Kind, Link, reborn},
};
use cells::{Close, Install, Lift, Remove, Take};
use identity::{Inspect, Mark, Restamp};

/// `sqns`.
pub(super) const APPLICATION_ID: i64 = 0x7371_6e73;

static KIND: Kind = Kind {
    word: "store",
    application_id: APPLICATION_ID,
    schema_version: 1,
    schema: &[
        "CREATE TABLE identity (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            uuid TEXT NOT NULL,
            stamp TEXT,
            mark INTEGER NOT NULL DEFAULT 0
        ) STRICT",
        // STRICT: otherwise a sum past 2^63 - 1 silently becomes a REAL.
        "CREATE TABLE cells (
            k TEXT PRIMARY KEY,
            life INTEGER NOT NULL,
            open INTEGER NOT NULL,
            v INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID",
        "PRAGMA user_version = 1",
        "PRAGMA application_id = 0x73716e73",
    ],
    beget: "INSERT INTO identity (one, uuid) VALUES (1, ?1)",
    token: "SELECT uuid FROM identity",
};

/// A store in one SQLite file. Handles to one file, in this process or another, count together.
///
/// Making one touches nothing; the first verb connects.
///
/// ```
/// use sequent_backend::sqlite::{SqliteOptions, SqliteStore};
/// use sequent_core::{Cell, Key, Life, OsEntropy, Store};
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("shard-0.db");
/// let store = SqliteStore::new(path, SqliteOptions { create: true, ..SqliteOptions::default() });
/// let incarnation = store.inspect().await?.incarnation;
/// let (key, life) = (Key::from_stored("order"), Life::random(&OsEntropy));
/// let cell = Cell { key: &key, under: &incarnation };
/// assert_eq!(store.close(cell, life).await?, 0);
/// store.install(cell, life, 100).await?;
/// assert_eq!(store.take(cell, life, 3).await?.to_string(), "101..=103");
/// store.disconnect().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteStore {
    database: Database,
}

impl SqliteStore {
    /// The store in the file at `path`.
    pub fn new(path: impl Into<PathBuf>, options: SqliteOptions) -> Self {
        Self { database: Database::new(path.into(), &KIND, options) }
    }

    /// Closes the connection; the next verb opens another. The last process to leave a file takes `-wal` and `-shm`
    /// with it.
    pub async fn disconnect(&self) {
        self.database.close().await;
    }
}

impl Store for SqliteStore {
    fn examiner(&self) -> Option<&dyn Examine> {
        Some(self)
    }

    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>> {
        Box::pin(self.database.perform(Inspect))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a Incarnation,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(self.database.perform(Restamp { under, expected, new }))
    }

    fn mark<'a>(&'a self, under: &'a Incarnation, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.database.perform(Mark { under, version }))
    }

    fn take<'a>(
        &'a self,
        cell: Cell<'a>,
        life: Life,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>> {
        Box::pin(self.database.perform(Take { cell, life, want }))
    }

    fn close<'a>(&'a self, cell: Cell<'a>, next: Life) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.database.perform(Close { cell, next }))
    }

    fn install<'a>(
        &'a self,
        cell: Cell<'a>,
        life: Life,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(self.database.perform(Install { cell, life, base }))
    }

    fn lift<'a>(&'a self, cell: Cell<'a>, life: Life, floor: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.database.perform(Lift { cell, life, floor }))
    }

    fn remove<'a>(&'a self, cell: Cell<'a>) -> BoxFuture<'a, Result<bool, SourceError>> {
        Box::pin(self.database.perform(Remove { cell }))
    }
}

/// The verb runs on a connection that was opened under this incarnation, or touches nothing.
fn check(link: &Link, under: &Incarnation) -> Result<(), Fault> {
    if link.incarnation() == under { Ok(()) } else { Err(reborn(under, link.incarnation()).into()) }
}

/// A value as the file can hold it.
fn stored(what: &str, key: &Key, value: u64) -> Result<i64, SourceError> {
    i64::try_from(value).map_err(|_| {
        SourceError::new(ErrorKind::Exhausted, format!("{key}: {what} {value} is above {}", i64::MAX))
    })
}
