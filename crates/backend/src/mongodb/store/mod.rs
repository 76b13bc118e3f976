//! MongoDB store: cells in one database.

mod cells;
mod examine;
mod identity;

use sequent_core::{Block, CellPage, Epoch, Examination, Inspection, Key};

use super::{connection::Connection, server::MongodbServer};
use crate::{
    net::{Fault, Pool, ServerOptions},
    store::{CoreStore, StoreEngine, Swapped},
};

/// A store in one MongoDB database, of kind `mongodb`: one document per key. All handles to one database, in this
/// process or another, count together.
///
/// The first call connects.
///
/// ```no_run
/// use sequent_backend::{mongodb::MongodbStore, net::ServerOptions};
/// use sequent_core::{Cell, Key, Epoch, OsEntropy, Store};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let options = ServerOptions::from_url("mongodb://seq@db.example/seq")?;
/// let options = ServerOptions { create: true, password_file: Some("/run/secrets/seq".into()), ..options };
/// let store = MongodbStore::new(options);
/// let instance = store.inspect().await?.instance;
/// let (key, epoch) = (Key::from_stored("order"), Epoch::random(&OsEntropy));
/// let cell = Cell { key: &key, under: &instance };
/// assert_eq!(store.close(cell, epoch).await?, 0);
/// store.install(cell, epoch, 100).await?;
/// assert_eq!(store.take(cell, epoch, 3).await?.to_string(), "101..=103");
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
    /// The store in the options' database.
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
        epoch: Epoch,
        want: u64,
    ) -> Result<Block, Fault> {
        cells::take(connection, key, epoch, want).await
    }

    async fn close(&self, connection: &mut Connection, key: &Key, next: Epoch) -> Result<u64, Fault> {
        cells::close(connection, key, next).await
    }

    async fn install(
        &self,
        connection: &mut Connection,
        key: &Key,
        epoch: Epoch,
        base: u64,
    ) -> Result<(), Fault> {
        cells::install(connection, key, epoch, base).await
    }

    async fn lift(
        &self,
        connection: &mut Connection,
        key: &Key,
        epoch: Epoch,
        floor: u64,
    ) -> Result<u64, Fault> {
        cells::lift(connection, key, epoch, floor).await
    }

    async fn examine(&self, connection: &mut Connection, keys: &[Key]) -> Result<Examination, Fault> {
        examine::examine(connection, keys).await
    }

    /// Always empty and marked as partial: no real server, nor the double, has shown that a scan works.
    async fn cells(&self, _: &mut Connection, _: Option<&str>) -> Result<CellPage, Fault> {
        Ok(CellPage { is_partial: true, ..CellPage::default() })
    }
}
