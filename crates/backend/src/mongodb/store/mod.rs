//! A shard: cells in one database.

mod cells;
mod examine;
mod identity;

use std::fmt;

use sequent_core::{
    Block, BoxFuture, Cell, ErrorKind, Examine, Incarnation, Inspection, Key, Life, SourceError, Stamp, Store,
};

use super::{MongodbOptions, MongodbUrl, database::Database};
use cells::{Close, Install, Lift, Take};
use identity::{Inspect, Mark, Restamp};

/// A store in one MongoDB database, of kind `mongodb`: a document a key. Handles to one database, in this process or
/// another, count together.
///
/// Making one touches nothing; the first verb connects.
///
/// ```no_run
/// use sequent_backend::mongodb::{MongodbOptions, MongodbStore};
/// use sequent_core::{Cell, Key, Life, OsEntropy, Store};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let url = "mongodb://seq@db.example/seq".parse()?;
/// let options = MongodbOptions { create: true, password_file: Some("/run/secrets/seq".into()), ..Default::default() };
/// let store = MongodbStore::new(url, options);
/// let incarnation = store.inspect().await?.incarnation;
/// let (key, life) = (Key::from_stored("order"), Life::random(&OsEntropy));
/// let cell = Cell { key: &key, under: &incarnation };
/// assert_eq!(store.close(cell, life).await?, 0);
/// store.install(cell, life, 100).await?;
/// assert_eq!(store.take(cell, life, 3).await?.to_string(), "101..=103");
/// store.disconnect();
/// # Ok(())
/// # }
/// ```
pub struct MongodbStore {
    database: Database,
}

impl fmt::Debug for MongodbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MongodbStore").field("target", self.database.target()).finish_non_exhaustive()
    }
}

impl MongodbStore {
    /// The store in the database at `url`.
    pub fn new(url: MongodbUrl, options: MongodbOptions) -> Self {
        Self { database: Database::new(url, options) }
    }

    /// Closes the connections; the next verb opens another.
    pub fn disconnect(&self) {
        self.database.close();
    }
}

impl Store for MongodbStore {
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
}

/// A value as a document can hold it.
fn stored(what: &str, key: &Key, value: u64) -> Result<i64, SourceError> {
    i64::try_from(value).map_err(|_| {
        SourceError::new(ErrorKind::Exhausted, format!("{key}: {what} {value} is above {}", i64::MAX))
    })
}
