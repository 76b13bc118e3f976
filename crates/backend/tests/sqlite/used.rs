//! A store in use.

use sequent_backend::sqlite::SqliteStore;
use sequent_core::{Block, Cell, Incarnation, Key, Life, SourceError, Store};

use crate::support::{Site, key, life};

/// One cell, open at 10.
pub(crate) struct Used {
    pub(crate) site: Site,
    pub(crate) store: SqliteStore,
    pub(crate) under: Incarnation,
    pub(crate) order: Key,
    pub(crate) life: Life,
}

impl Used {
    pub(crate) async fn new() -> Self {
        let site = Site::new();
        let store = site.store();
        let under = store.inspect().await.unwrap().incarnation;
        let used = Self { site, store, under, order: key("order"), life: life(1) };
        used.store.close(used.cell(), used.life).await.unwrap();
        used.store.install(used.cell(), used.life, 10).await.unwrap();
        used
    }

    pub(crate) fn cell(&self) -> Cell<'_> {
        Cell { key: &self.order, under: &self.under }
    }

    pub(crate) async fn take(&self) -> Result<Block, SourceError> {
        self.store.take(self.cell(), self.life, 1).await
    }

    pub(crate) async fn taken(&self) -> u64 {
        self.take().await.unwrap().first()
    }
}
