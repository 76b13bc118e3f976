//! Redis store: two hashes per key, the cell and its witness, and one for the shard itself.

mod cells;
mod examine;
mod identity;
mod page;
mod privileges;

use sequent_core::{Block, CellPage, Epoch, Examination, Inspection, Key, SlotIndex, Stamp};

use super::{connection::Connection, server::RedisServer};
use crate::{
    net::{Fault, Owner, Pool, ServerOptions},
    store::{CoreStore, StoreEngine, Swapped},
};

/// A store in one database of a Redis or Valkey server, of kind `redis`. All handles of one owner, in this process or
/// another, count together.
///
/// The first call connects.
///
/// ```no_run
/// use sequent_backend::{net::{Owner, ServerOptions}, redis::RedisStore};
/// use sequent_core::{Cell, Key, Epoch, OsEntropy, Store};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let owner = Owner { cluster: "shop-eu".parse()?, slot: 1 };
/// let store = RedisStore::new(ServerOptions::from_url("redis://sequent@db.example")?, owner);
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
pub type RedisStore = CoreStore<RedisStoreEngine>;

impl RedisStore {
    /// The store of `owner` on the options' server.
    pub fn new(options: ServerOptions, owner: Owner) -> Self {
        Self(RedisStoreEngine { pool: Pool::new(RedisServer { options, owner }) })
    }
}

/// The engine of a [`RedisStore`]: cells in hashes.
pub struct RedisStoreEngine {
    pool: Pool<RedisServer>,
}

impl RedisStoreEngine {
    fn owner(&self) -> &Owner {
        &self.pool.server().owner
    }
}

impl StoreEngine for RedisStoreEngine {
    type Connections = Pool<RedisServer>;
    const HAS_SIBLINGS: bool = true;

    fn connections(&self) -> &Pool<RedisServer> {
        &self.pool
    }

    async fn inspect(&self, connection: &mut Connection) -> Result<Inspection, Fault> {
        identity::inspect(connection, self.owner()).await
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
        cells::take(connection, self.owner(), key, epoch, want).await
    }

    async fn close(&self, connection: &mut Connection, key: &Key, next: Epoch) -> Result<u64, Fault> {
        cells::close(connection, self.owner(), key, next).await
    }

    async fn install(
        &self,
        connection: &mut Connection,
        key: &Key,
        epoch: Epoch,
        base: u64,
    ) -> Result<(), Fault> {
        cells::install(connection, self.owner(), key, epoch, base).await
    }

    async fn lift(
        &self,
        connection: &mut Connection,
        key: &Key,
        epoch: Epoch,
        floor: u64,
    ) -> Result<u64, Fault> {
        cells::lift(connection, self.owner(), key, epoch, floor).await
    }

    async fn remove(&self, connection: &mut Connection, key: &Key) -> Result<bool, Fault> {
        cells::remove(connection, self.owner(), key).await
    }

    async fn siblings(&self, connection: &mut Connection, slots: SlotIndex) -> Result<Vec<Stamp>, Fault> {
        identity::siblings(connection, self.owner(), slots).await
    }

    async fn examine(&self, connection: &mut Connection, keys: &[Key]) -> Result<Examination, Fault> {
        examine::examine(connection, self.owner(), keys).await
    }

    async fn cells(&self, connection: &mut Connection, from: Option<&str>) -> Result<CellPage, Fault> {
        page::page(connection, self.owner(), from).await
    }
}
