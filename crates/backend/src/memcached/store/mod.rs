//! Memcached store: one item per key, and one for the shard itself.

mod cells;
mod examine;
mod identity;

use sequent_core::{Block, Epoch, Examination, Inspection, Key, SlotIndex, Stamp};

use super::{connection::Connection, server::MemcachedServer};
use crate::{
    net::{Fault, Owner, Pool, ServerOptions},
    store::{CoreStore, StoreEngine, Swapped, cas},
};

/// A store on a memcached server, of kind `memcached`. All handles of one owner, in this process or another, count
/// together.
///
/// The first call connects.
///
/// ```no_run
/// use sequent_backend::{memcached::MemcachedStore, net::{Owner, ServerOptions}};
/// use sequent_core::{Cell, Key, Epoch, OsEntropy, Store};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let owner = Owner { cluster: "shop-eu".parse()?, slot: 2 };
/// let store = MemcachedStore::new(ServerOptions::from_url("memcached://cache.example")?, owner);
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
pub type MemcachedStore = CoreStore<MemcachedStoreEngine>;

impl MemcachedStore {
    /// The store of `owner` on the options' server.
    pub fn new(options: ServerOptions, owner: Owner) -> Self {
        Self(MemcachedStoreEngine { pool: Pool::new(MemcachedServer { options, owner }) })
    }
}

/// The engine of a [`MemcachedStore`]: cells in items.
pub struct MemcachedStoreEngine {
    pool: Pool<MemcachedServer>,
}

impl MemcachedStoreEngine {
    fn owner(&self) -> &Owner {
        &self.pool.server().owner
    }
}

impl StoreEngine for MemcachedStoreEngine {
    type Connections = Pool<MemcachedServer>;
    const HAS_SIBLINGS: bool = true;
    const LISTS_CELLS: bool = false;

    fn connections(&self) -> &Pool<MemcachedServer> {
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
        let mut item = cells::item(connection, self.owner(), key);
        cas::take(&mut item, key, epoch, want, None).await.map(|(block, _)| block)
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
        cas::install(&mut cells::item(connection, self.owner(), key), key, epoch, base).await
    }

    async fn lift(
        &self,
        connection: &mut Connection,
        key: &Key,
        epoch: Epoch,
        floor: u64,
    ) -> Result<u64, Fault> {
        cas::lift(&mut cells::item(connection, self.owner(), key), key, epoch, floor).await
    }

    async fn siblings(&self, connection: &mut Connection, slots: SlotIndex) -> Result<Vec<Stamp>, Fault> {
        identity::siblings(connection, self.owner(), slots).await
    }

    async fn examine(&self, connection: &mut Connection, keys: &[Key]) -> Result<Examination, Fault> {
        examine::examine(connection, self.owner(), keys).await
    }
}
