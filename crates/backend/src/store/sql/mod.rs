//! SQL stores, written once: an engine brings statements, connections and facts about its server.

mod cells;
mod examine;
mod identity;

use std::future::Future;

use sequent_core::{Block, CellPage, Durability, Epoch, Examination, Fact, Inspection, Key, SourceError};
use tokio::sync::MutexGuard;

pub(crate) use cells::cell;

use super::{ConnectionOf, StoreEngine, Swapped};
use crate::{
    net::{Connections, Fault, TxMode},
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

/// Facts about an engine's server.
#[derive(Debug)]
pub(crate) struct StoreFacts {
    /// Which writes survive a crash.
    pub(crate) durability: Durability,
    /// Name and version, for operators.
    pub(crate) engine: String,
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
    ) -> impl Future<Output = Result<Option<SqlRow>, Fault>> + Send;

    /// Reads the facts about the server.
    fn store_facts(&mut self) -> impl Future<Output = Result<StoreFacts, Fault>> + Send;

    /// The clock to report, given the engine's own `told`.
    fn clock_ms(&self, told: u64) -> u64 {
        told
    }

    /// Fails if a larger write would fail, although a small one succeeded.
    fn check_space(&mut self) -> impl Future<Output = Result<(), Fault>> + Send {
        std::future::ready(Ok(()))
    }
}

/// A way of counting other than adding to a row in place. Each call supplements the one on the table's row.
pub(crate) trait Counting<S: StoreSession>: Send + Sync + 'static {
    /// Whether the engine can store a counter of this key.
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        let _ = key;
        Ok(())
    }

    /// Waits for the key's turn.
    fn turn(&self, key: &Key) -> impl Future<Output = Option<MutexGuard<'_, ()>>> + Send {
        let _ = key;
        std::future::ready(None)
    }

    /// As [`StoreEngine::take`].
    fn take(
        &self,
        session: &mut S,
        key: &Key,
        epoch: Epoch,
        want: u64,
    ) -> impl Future<Output = Result<Block, Fault>> + Send {
        cells::take(session, key, epoch, want)
    }

    /// As [`StoreEngine::close`].
    fn close(
        &self,
        session: &mut S,
        key: &Key,
        next: Epoch,
    ) -> impl Future<Output = Result<u64, Fault>> + Send {
        cells::close(session, key, next)
    }

    /// As [`StoreEngine::install`].
    fn install(
        &self,
        session: &mut S,
        key: &Key,
        epoch: Epoch,
        base: u64,
    ) -> impl Future<Output = Result<(), Fault>> + Send {
        cells::install(session, key, epoch, base)
    }

    /// As [`StoreEngine::lift`].
    fn lift(
        &self,
        session: &mut S,
        key: &Key,
        epoch: Epoch,
        floor: u64,
    ) -> impl Future<Output = Result<u64, Fault>> + Send {
        cells::lift(session, key, epoch, floor)
    }

    /// As [`StoreEngine::remove`].
    fn remove(&self, session: &mut S, key: &Key) -> impl Future<Output = Result<bool, Fault>> + Send {
        cells::remove(session, key)
    }

    /// The highest id of a key whose row holds `value`; `None` if the counter itself is missing.
    fn reached(
        &self,
        session: &mut S,
        key: &Key,
        value: u64,
    ) -> impl Future<Output = Result<Option<u64>, Fault>> + Send {
        let _ = (session, key);
        std::future::ready(Ok(Some(value)))
    }

    /// A lower bound of the highest id of a key whose row holds `value`, even if the counter itself is missing.
    fn reached_at_least(
        &self,
        session: &mut S,
        key: &Key,
        value: u64,
    ) -> impl Future<Output = Result<u64, Fault>> + Send {
        let _ = (session, key);
        std::future::ready(Ok(value))
    }

    /// Further facts for a read-only examination.
    fn facts(&self, session: &mut S) -> impl Future<Output = Result<Vec<Fact>, Fault>> + Send;
}

/// A store in SQL tables.
pub struct SqlStore<C, K> {
    pub(crate) connections: C,
    pub(crate) counting: K,
}

impl<C: Connections, K: Counting<C::Connection>> StoreEngine for SqlStore<C, K>
where
    C::Connection: StoreSession,
{
    type Connections = C;
    const INSPECT_MODE: TxMode = C::Connection::INSPECT_MODE;
    const LOOK_MODE: TxMode = C::Connection::LOOK_MODE;

    fn connections(&self) -> &C {
        &self.connections
    }

    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        self.counting.holds(key)
    }

    async fn turn(&self, key: &Key) -> Option<MutexGuard<'_, ()>> {
        self.counting.turn(key).await
    }

    async fn inspect(&self, session: &mut ConnectionOf<Self>) -> Result<Inspection, Fault> {
        Ok(identity::inspect(session).await?.0)
    }

    async fn swap_stamp(
        &self,
        session: &mut ConnectionOf<Self>,
        expected: Option<&str>,
        new: &str,
    ) -> Result<Swapped, Fault> {
        identity::swap_stamp(session, expected, new).await
    }

    async fn mark(&self, session: &mut ConnectionOf<Self>, version: u64) -> Result<u64, Fault> {
        identity::mark(session, version).await
    }

    async fn take(
        &self,
        session: &mut ConnectionOf<Self>,
        key: &Key,
        epoch: Epoch,
        want: u64,
    ) -> Result<Block, Fault> {
        self.counting.take(session, key, epoch, want).await
    }

    async fn close(&self, session: &mut ConnectionOf<Self>, key: &Key, next: Epoch) -> Result<u64, Fault> {
        self.counting.close(session, key, next).await
    }

    async fn install(
        &self,
        session: &mut ConnectionOf<Self>,
        key: &Key,
        epoch: Epoch,
        base: u64,
    ) -> Result<(), Fault> {
        self.counting.install(session, key, epoch, base).await
    }

    async fn lift(
        &self,
        session: &mut ConnectionOf<Self>,
        key: &Key,
        epoch: Epoch,
        floor: u64,
    ) -> Result<u64, Fault> {
        self.counting.lift(session, key, epoch, floor).await
    }

    async fn remove(&self, session: &mut ConnectionOf<Self>, key: &Key) -> Result<bool, Fault> {
        self.counting.remove(session, key).await
    }

    async fn examine(&self, session: &mut ConnectionOf<Self>, keys: &[Key]) -> Result<Examination, Fault> {
        examine::examine(&self.counting, session, keys).await
    }

    async fn cells(&self, session: &mut ConnectionOf<Self>, from: Option<&str>) -> Result<CellPage, Fault> {
        examine::page(&self.counting, session, from).await
    }
}
