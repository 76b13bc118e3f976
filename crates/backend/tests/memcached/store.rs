//! The store against the conformance suite.

use std::sync::Arc;

use sequent_core::{BoxFuture, Key, Store};
use sequent_testkit::{
    conformance::store::{Mishap, StoreFixture},
    servers::Memcached,
};

use crate::support::{cell_name, store};

struct Fixture(Memcached);

impl Fixture {
    async fn new() -> Self {
        Self(Memcached::start().await)
    }
}

impl StoreFixture for Fixture {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async { Arc::new(store(&self.0)) as Arc<dyn Store> })
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.0.restart().await;
            true
        })
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        Box::pin(async move { self.0.ask(&format!("delete {}", cell_name(key.as_str()))).await == "DELETED" })
    }

    fn befall<'a>(&'a self, mishap: Mishap<'a>) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            match mishap {
                Mishap::Killed => self.0.kill().await,
                Mishap::Hung => self.0.suspend().await,
                Mishap::Resumed => self.0.resume().await,
                Mishap::Truncated(_) => drop(self.0.ask("flush_all").await),
                // There are no tables: a close makes what it needs.
                Mishap::TablesGone => return false,
            }
            true
        })
    }
}

sequent_testkit::store_conformance!(Fixture::new().await);
