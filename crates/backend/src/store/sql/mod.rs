//! A store in tables, once for every SQL engine: an engine brings its statements, its connections, and facts about itself.

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

/// The statements of a dialect, each with what it is given.
#[derive(Debug)]
pub(crate) struct StoreStatements {
    /// `(count, k, epoch)`: adds to a row that is open, of this epoch, and not below 0; leaves its value.
    pub(crate) take: &'static str,
    /// `(k, epoch)`: closes the row, or makes it; leaves its value.
    pub(crate) close: &'static str,
    /// `(base, k, epoch)`: opens the row of this epoch, unless it is open.
    pub(crate) install: &'static str,
    /// `(floor, k, epoch)`: raises the open row of this epoch; leaves its value.
    pub(crate) lift: &'static str,
    /// `(k)`.
    pub(crate) remove: &'static str,
    /// `(k)`: `epoch, open, v`; no row, or nulls, where there is no such cell.
    pub(crate) cell: &'static str,
    /// `(k)` each: `k, epoch, open, v`.
    pub(crate) cells: Many,
    /// `(k, most)`: `k, v` of those after `k`, ascending.
    pub(crate) page: &'static str,
    /// `stamp, mark, whether there is any cell, clock in milliseconds since 1970`.
    pub(crate) shard: &'static str,
    /// `(new, expected or null)`: replaces the stamp.
    pub(crate) stamp: &'static str,
    /// `(version)`: raises the mark; leaves it. Where nothing is raised it may touch no row.
    pub(crate) mark: &'static str,
}

/// What an engine says of itself.
#[derive(Debug)]
pub(crate) struct StoreFacts {
    /// How much outlives a crash.
    pub(crate) durability: Durability,
    /// Its name and version, for people.
    pub(crate) engine: String,
}

/// A connection to a store's tables.
pub(crate) trait StoreSession: SqlSession + 'static {
    /// The engine's statements.
    const STATEMENTS: &'static StoreStatements;

    /// How the statements are held together by which a store is inspected, or stamped.
    const INSPECT_MODE: TxMode = TxMode::Single;

    /// The same of those that only look.
    const LOOK_MODE: TxMode = TxMode::Single;

    /// Runs a statement that touches one row at most; returns what it left there, 0 for what is below it.
    fn change(
        &mut self,
        sql: &'static str,
        params: Vec<Value>,
    ) -> impl Future<Output = Result<Option<u64>, Fault>> + Send;

    /// The first row of a statement that reads, from the tables that the connection was opened on.
    fn read(
        &mut self,
        sql: &'static str,
        params: Vec<Value>,
    ) -> impl Future<Output = Result<Option<SqlRow>, Fault>> + Send;

    /// What the engine says of itself.
    fn store_facts(&mut self) -> impl Future<Output = Result<StoreFacts, Fault>> + Send;

    /// The clock that is reported, where the engine's own is `told`.
    fn clock_ms(&self, told: u64) -> u64 {
        told
    }

    /// Fails where no more could be written, though one small write went well.
    fn check_space(&mut self) -> impl Future<Output = Result<(), Fault>> + Send {
        std::future::ready(Ok(()))
    }
}

/// How ids are counted, where it is not by adding to a row in place: each call beside the one that the tables have.
pub(crate) trait Counting<S: StoreSession>: Send + Sync + 'static {
    /// Whether it can hold a counter of this key at all.
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        let _ = key;
        Ok(())
    }

    /// Waits until it is this key's turn to be taken from.
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

    /// How far a key is whose row holds `value`; `None` where what counts is gone.
    fn reached(
        &self,
        session: &mut S,
        key: &Key,
        value: u64,
    ) -> impl Future<Output = Result<Option<u64>, Fault>> + Send {
        let _ = (session, key);
        std::future::ready(Ok(Some(value)))
    }

    /// How far a key is at least whose row holds `value`, whatever is gone.
    fn reached_at_least(
        &self,
        session: &mut S,
        key: &Key,
        value: u64,
    ) -> impl Future<Output = Result<u64, Fault>> + Send {
        let _ = (session, key);
        std::future::ready(Ok(value))
    }

    /// What is worth knowing besides, for whoever only looks.
    fn facts(&self, session: &mut S) -> impl Future<Output = Result<Vec<Fact>, Fault>> + Send;
}

/// A store in tables.
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
