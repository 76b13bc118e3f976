//! MongoDB store: cells in one database.

mod cells;
mod examine;
mod identity;

use super::server::MongodbServer;
use crate::{
    net::{Pool, ServerOptions},
    store::CoreStore,
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
pub type MongodbStore = CoreStore<Pool<MongodbServer>, Documents>;

/// Counting in documents.
#[derive(Debug)]
pub struct Documents;

impl MongodbStore {
    /// The store in the options' database.
    pub fn new(options: ServerOptions) -> Self {
        Self::on(Pool::new(MongodbServer { options }), Documents)
    }
}
