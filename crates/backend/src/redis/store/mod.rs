//! Redis store: two hashes per key, the cell and its witness, and one for the shard itself.

mod cells;
mod examine;
mod identity;
mod page;
mod privileges;

use super::server::RedisServer;
use crate::{
    net::{Owner, Pool, ServerOptions},
    store::CoreStore,
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
pub type RedisStore = CoreStore<Pool<RedisServer>, Hashes>;

/// Counting in hashes.
#[derive(Debug)]
pub struct Hashes;

impl RedisStore {
    /// The store of `owner` on the options' server.
    pub fn new(options: ServerOptions, owner: Owner) -> Self {
        Self::on(Pool::new(RedisServer { options, owner }), Hashes)
    }
}
