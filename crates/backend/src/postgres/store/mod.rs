//! A shard: cells in one schema.

mod cells;
mod examine;
mod identity;

use sequent_core::{
    Block, BoxFuture, Cell, ErrorKind, Examine, Incarnation, Inspection, Key, Life, SourceError, Stamp, Store,
};

use super::{
    PostgresOptions, PostgresUrl,
    database::Database,
    fault::Fault,
    link::{Kind, Link, reborn},
};
use cells::{Close, Install, Lift, Remove, Take};
use identity::{Inspect, Mark, Restamp};

static KIND: Kind = Kind {
    word: "store",
    schema_version: 1,
    schema: &[
        "CREATE TABLE shard (
            one integer PRIMARY KEY CHECK (one = 1),
            uuid text NOT NULL,
            stamp text,
            mark bigint NOT NULL DEFAULT 0
        )",
        // Keys are bytes: no collation folds them, and a text may hold no zero byte here. Room on each page, so that
        // the next version of a row needs no new entry in the index.
        "CREATE TABLE cells (
            k bytea PRIMARY KEY,
            life bigint NOT NULL,
            open boolean NOT NULL,
            v bigint NOT NULL
        ) WITH (fillfactor = 50)",
    ],
    beget: "INSERT INTO shard (one, uuid) VALUES (1, $1)",
    anchor: "cells",
};

/// A store in one schema of a PostgreSQL database, of kind `postgres-row`: a row a key. Handles to one schema, in this
/// process or another, count together.
///
/// Making one touches nothing; the first verb connects.
///
/// ```no_run
/// use sequent_backend::postgres::{PostgresOptions, PostgresStore};
/// use sequent_core::{Cell, Key, Life, OsEntropy, Store};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let url = "postgres://seq@db.example/seq".parse()?;
/// let options = PostgresOptions { create: true, password_file: Some("/run/secrets/seq".into()), ..Default::default() };
/// let store = PostgresStore::new(url, options);
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
#[derive(Debug)]
pub struct PostgresStore {
    database: Database,
}

impl PostgresStore {
    /// The store in the options' schema of the database at `url`.
    pub fn new(url: PostgresUrl, options: PostgresOptions) -> Self {
        Self { database: Database::new(url, &KIND, options) }
    }

    /// Closes the connections; the next verb opens another.
    pub fn disconnect(&self) {
        self.database.close();
    }
}

impl Store for PostgresStore {
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

/// A value as a table can hold it.
fn stored(what: &str, key: &Key, value: u64) -> Result<i64, SourceError> {
    i64::try_from(value).map_err(|_| {
        SourceError::new(ErrorKind::Exhausted, format!("{key}: {what} {value} is above {}", i64::MAX))
    })
}
