//! A shard: cells in one database.

mod cells;
mod examine;
mod identity;

use sequent_core::{Block, CellPage, Examination, Inspection, Key, Life};

use super::{connection::Connection, server::MongodbServer};
use crate::{
    net::{Fault, Pool, ServerOptions},
    store::{CoreStore, StoreEngine, Swapped},
};

/// A store in one MongoDB database, of kind `mongodb`: a document a key. Handles to one database, in this process or
/// another, count together.
///
/// Making one touches nothing; the first call connects.
///
/// ```no_run
/// use sequent_backend::{mongodb::MongodbStore, net::ServerOptions};
/// use sequent_core::{Cell, Key, Life, OsEntropy, Store};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let options = ServerOptions::from_url("mongodb://seq@db.example/seq")?;
/// let options = ServerOptions { create: true, password_file: Some("/run/secrets/seq".into()), ..options };
/// let store = MongodbStore::new(options);
/// let incarnation = store.inspect().await?.incarnation;
/// let (key, life) = (Key::from_stored("order"), Life::random(&OsEntropy));
/// let cell = Cell { key: &key, under: &incarnation };
/// assert_eq!(store.close(cell, life).await?, 0);
/// store.install(cell, life, 100).await?;
/// assert_eq!(store.take(cell, life, 3).await?.to_string(), "101..=103");
/// store.disconnect().await;
/// # Ok(())
/// # }
/// ```
pub type MongodbStore = CoreStore<MongodbStoreEngine>;

/// The engine of a [`MongodbStore`].
pub struct MongodbStoreEngine {
    pool: Pool<MongodbServer>,
}

impl MongodbStore {
    /// The store in the database that the options name.
    pub fn new(options: ServerOptions) -> Self {
        Self(MongodbStoreEngine { pool: Pool::new(MongodbServer { options }) })
    }
}

impl StoreEngine for MongodbStoreEngine {
    type Connections = Pool<MongodbServer>;

    fn connections(&self) -> &Pool<MongodbServer> {
        &self.pool
    }

    async fn inspect(&self, connection: &mut Connection) -> Result<Inspection, Fault> {
        identity::inspect(connection).await
    }

    async fn swap_stamp(
        &self,
        connection: &mut Connection,
        expected: Option<&str>,
        new: &str,
    ) -> Result<Swapped, Fault> {
        identity::swap_stamp(connection, expected, new).await
    }

    async fn mark(&self, connection: &mut Connection, version: u64) -> Result<u64, Fault> {
        identity::mark(connection, version).await
    }

    async fn take(
        &self,
        connection: &mut Connection,
        key: &Key,
        life: Life,
        want: u64,
    ) -> Result<Block, Fault> {
        cells::take(connection, key, life, want).await
    }

    async fn close(&self, connection: &mut Connection, key: &Key, next: Life) -> Result<u64, Fault> {
        cells::close(connection, key, next).await
    }

    async fn install(
        &self,
        connection: &mut Connection,
        key: &Key,
        life: Life,
        base: u64,
    ) -> Result<(), Fault> {
        cells::install(connection, key, life, base).await
    }

    async fn lift(
        &self,
        connection: &mut Connection,
        key: &Key,
        life: Life,
        floor: u64,
    ) -> Result<u64, Fault> {
        cells::lift(connection, key, life, floor).await
    }

    async fn examine(&self, connection: &mut Connection, keys: &[Key]) -> Result<Examination, Fault> {
        examine::examine(connection, keys).await
    }

    /// It tells of none, and says so: no server, nor the double, has shown that a scan works.
    async fn cells(&self, _: &mut Connection, _: Option<&str>) -> Result<CellPage, Fault> {
        Ok(CellPage { is_partial: true, ..CellPage::default() })
    }
}
