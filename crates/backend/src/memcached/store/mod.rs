//! Memcached store: one item per key, and one for the shard itself.

mod cells;
mod examine;
mod identity;

use super::server::MemcachedServer;
use crate::{
    net::{Owner, Pool, ServerOptions},
    store::CoreStore,
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
pub type MemcachedStore = CoreStore<Pool<MemcachedServer>, Items>;

/// Counting in items, by compare and swap.
#[derive(Debug)]
pub struct Items;

impl MemcachedStore {
    /// The store of `owner` on the options' server.
    pub fn new(options: ServerOptions, owner: Owner) -> Self {
        Self::on(Pool::new(MemcachedServer { options, owner }), Items)
    }
}
