//! A store in use.

use sequent_backend::sqlite::SqliteStore;
use sequent_core::{Block, Cell, Epoch, InstanceId, Key, SourceError, Store};

use crate::support::{Site, epoch, key};

/// One cell, open at 10.
pub(crate) struct Used {
    pub(crate) site: Site,
    pub(crate) store: SqliteStore,
    pub(crate) under: InstanceId,
    pub(crate) order: Key,
    pub(crate) epoch: Epoch,
}

impl Used {
    pub(crate) async fn new() -> Self {
        let site = Site::new();
        let store = site.store();
        let under = store.inspect().await.unwrap().instance;
        let used = Self { site, store, under, order: key("order"), epoch: epoch(1) };
        used.store.close(used.cell(), used.epoch).await.unwrap();
        used.store.install(used.cell(), used.epoch, 10).await.unwrap();
        used
    }

    pub(crate) fn cell(&self) -> Cell<'_> {
        Cell { key: &self.order, under: &self.under }
    }

    pub(crate) async fn take(&self) -> Result<Block, SourceError> {
        self.store.take(self.cell(), self.epoch, 1).await
    }

    pub(crate) async fn taken(&self) -> u64 {
        self.take().await.unwrap().first()
    }
}
