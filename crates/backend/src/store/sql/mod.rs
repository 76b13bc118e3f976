//! SQL stores, written once: an engine brings statements, connections and facts about its server.

mod cells;
mod examine;
mod identity;

use std::future::Future;

use sequent_core::{Fact, Key};

pub(crate) use cells::cell;

use super::{Counting, StoreConnection};
use crate::{
    net::{Fault, TxMode},
    sql::{Many, SqlRow, SqlSession, Value},
};

/// The statements of a dialect, each with its parameters.
#[derive(Debug)]
pub(crate) struct StoreStatements {
    /// `(count, k, epoch)`: adds to a row that is open, of this epoch, and at least 0; returns its value.
    pub(crate) take: &'static str,
    /// `(k, epoch)`: closes the row, or creates it closed; returns its value.
    pub(crate) close: &'static str,
    /// `(base, k, epoch)`: opens the row of this epoch, unless it is open.
    pub(crate) install: &'static str,
    /// `(floor, k, epoch)`: raises the open row of this epoch; returns its value.
    pub(crate) lift: &'static str,
    /// `(k)`.
    pub(crate) remove: &'static str,
    /// `(k)`: `epoch, open, v`; no row, or nulls, if there is no cell.
    pub(crate) cell: &'static str,
    /// `(k)` each: `k, epoch, open, v`.
    pub(crate) cells: Many,
    /// `(k, most)`: `k, v` of the cells after `k`, ascending.
    pub(crate) page: &'static str,
    /// `stamp, mark, whether there is any cell, clock in milliseconds since 1970`.
    pub(crate) shard: &'static str,
    /// `(new, expected or null)`: replaces the stamp.
    pub(crate) stamp: &'static str,
    /// `(version)`: raises the mark and returns it. A mark that is already as high may touch no row.
    pub(crate) mark: &'static str,
}

/// A connection to a store's tables.
pub(crate) trait StoreSession: SqlSession + 'static {
    /// The engine's statements.
    const STATEMENTS: &'static StoreStatements;

    /// Transaction mode of `inspect` and of stamping.
    const INSPECT_MODE: TxMode = TxMode::Single;

    /// Transaction mode of `examine`.
    const LOOK_MODE: TxMode = TxMode::Single;

    /// Runs a statement that touches at most one row; returns its new value, with 0 for a negative one.
    fn change(
        &mut self,
        sql: &'static str,
        params: Vec<Value>,
    ) -> impl Future<Output = Result<Option<u64>, Fault>> + Send;

    /// The first row of a read, from the tables that the connection was opened on.
    fn read(
        &mut self,
        sql: &'static str,
        params: Vec<Value>,
    ) -> impl Future<Output = Result<Option<SqlRow>, Fault>> + Send {
        self.row(sql, params)
    }

    /// The clock to report, given the engine's own `told`.
    fn clock_ms(&self, told: u64) -> u64 {
        told
    }

    /// Fails if a larger write would fail, although a small one succeeded.
    fn check_space(&mut self) -> impl Future<Output = Result<(), Fault>> + Send {
        std::future::ready(Ok(()))
    }
}

/// Counting by adding to a row in place.
#[derive(Debug)]
pub struct InPlace;

impl<S: StoreSession> SqlCounting<S> for InPlace {}

/// A way of counting, as an examination needs it.
pub(crate) trait SqlCounting<S: StoreSession>: Counting<S> {
    /// The highest id of a key whose row holds `value`, and whether the counter itself is there.
    fn reached(
        &self,
        session: &mut S,
        key: &Key,
        value: u64,
    ) -> impl Future<Output = Result<(u64, bool), Fault>> + Send {
        let _ = (session, key);
        std::future::ready(Ok((value, true)))
    }

    /// Further facts for a read-only examination.
    fn facts(&self, session: &mut S) -> impl Future<Output = Result<Vec<Fact>, Fault>> + Send {
        session.facts()
    }
}
