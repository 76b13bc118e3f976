//! A shard: cells in one database, counted in one of three ways.

mod cells;
mod code;
mod examine;
mod identity;
mod row;
mod segment;
pub(super) mod tables;

use std::hash::{DefaultHasher, Hash, Hasher};

use sequent_core::{
    Block, BoxFuture, Cell, ErrorKind, Examine, Incarnation, Inspection, Key, Life, SourceError, Stamp, Store,
};

use super::{options::MysqlOptions, pool::Pool};
use cells::{Close, Install, Lift, Remove};
use identity::{Inspect, Mark, Restamp};
use segment::Stripes;

/// A store in one MySQL or MariaDB database. Handles to one database, in this process or another, count together.
///
/// Making one touches nothing; the first verb connects. The constructors are the three ways to count; a database is used
/// in one way only.
pub struct MysqlStore {
    pool: Pool,
    way: Way,
}

/// How ids are counted.
enum Way {
    /// A row is added to.
    Row,
    /// A row is compared and swapped.
    Segment(Box<Stripes>),
    /// A table's `AUTO_INCREMENT` counts.
    AutoIncrement(Box<code::Codes>),
}

impl MysqlStore {
    /// `mysql-row`: one row a key, added to in place. The one to take where nothing speaks for another.
    pub fn row(options: MysqlOptions) -> Self {
        Self { pool: Pool::new(options, &tables::CELLS), way: Way::Row }
    }

    /// `mysql-segment`: one row a key, compared and swapped. For larger blocks, and for servers whose
    /// `LAST_INSERT_ID(expr)` can't be relied on.
    pub fn segment(options: MysqlOptions) -> Self {
        Self { pool: Pool::new(options, &tables::CELLS), way: Way::Segment(Box::default()) }
    }

    /// `mysql-auto-increment`: a table `<owner>_code_<suffix>` for each sequence, whose ids are taken from the OK packet.
    /// For those who want a row with its time for each block's newest ids. Sequences with periods or partitions are refused,
    /// with the name of the store that can hold them.
    pub fn auto_increment(options: MysqlOptions, suffix: &str) -> Result<Self, SourceError> {
        let codes = Box::new(code::Codes::new(suffix, options.create)?);
        Ok(Self { pool: Pool::new(options, &tables::FENCES), way: Way::AutoIncrement(codes) })
    }

    /// Closes the connections that nobody uses; the next verb opens another.
    pub async fn disconnect(&self) {
        self.pool.close().await;
    }
}

impl Store for MysqlStore {
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        match &self.way {
            Way::Row | Way::Segment(_) => Ok(()),
            Way::AutoIncrement(codes) => codes.holds(key),
        }
    }

    fn examiner(&self) -> Option<&dyn Examine> {
        Some(self)
    }

    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>> {
        Box::pin(self.pool.perform(Inspect))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a Incarnation,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(self.pool.perform(Restamp { under, expected, new }))
    }

    fn mark<'a>(&'a self, under: &'a Incarnation, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(Mark { under, version }))
    }

    fn take<'a>(
        &'a self,
        cell: Cell<'a>,
        life: Life,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>> {
        match &self.way {
            Way::Row => Box::pin(self.pool.perform(row::Take { cell, life, want })),
            Way::Segment(stripes) => Box::pin(stripes.take(&self.pool, cell, life, want)),
            Way::AutoIncrement(codes) => Box::pin(codes.take(&self.pool, cell, life, want)),
        }
    }

    fn close<'a>(&'a self, cell: Cell<'a>, next: Life) -> BoxFuture<'a, Result<u64, SourceError>> {
        match &self.way {
            Way::Row => Box::pin(self.pool.perform(Close { cell, next })),
            Way::Segment(_) => Box::pin(segment::close(&self.pool, cell, next)),
            Way::AutoIncrement(codes) => Box::pin(codes.close(&self.pool, cell, next)),
        }
    }

    fn install<'a>(
        &'a self,
        cell: Cell<'a>,
        life: Life,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        match &self.way {
            Way::Row => Box::pin(self.pool.perform(Install { cell, life, base })),
            Way::Segment(_) => Box::pin(segment::install(&self.pool, cell, life, base)),
            Way::AutoIncrement(codes) => Box::pin(codes.install(&self.pool, cell, life, base)),
        }
    }

    fn lift<'a>(&'a self, cell: Cell<'a>, life: Life, floor: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        match &self.way {
            Way::Row => Box::pin(self.pool.perform(Lift { cell, life, floor })),
            Way::Segment(_) => Box::pin(segment::lift(&self.pool, cell, life, floor)),
            Way::AutoIncrement(codes) => Box::pin(codes.lift(&self.pool, cell, life, floor)),
        }
    }

    fn remove<'a>(&'a self, cell: Cell<'a>) -> BoxFuture<'a, Result<bool, SourceError>> {
        match &self.way {
            Way::Row | Way::Segment(_) => Box::pin(self.pool.perform(Remove { cell })),
            // It holds no key with a period, and no other is ever over.
            Way::AutoIncrement(_) => Box::pin(std::future::ready(Ok(false))),
        }
    }
}

/// A value as a row can hold it.
fn stored(what: &str, key: &Key, value: u64) -> Result<i64, SourceError> {
    i64::try_from(value).map_err(|_| {
        SourceError::new(ErrorKind::Exhausted, format!("{key}: {what} {value} is above {}", i64::MAX))
    })
}

/// One of `places` for a key: the same within a process.
fn place_of(key: &Key, places: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    usize::try_from(hasher.finish() % places.max(1) as u64).unwrap_or(0)
}
