//! The store against the conformance suite.

use std::sync::{Arc, Mutex};

use sequent_backend::{net::ServerOptions, postgres::PostgresStore};
use sequent_core::{BoxFuture, Key, Store};
use sequent_testkit::conformance::store::{Mishap, Odd, StoreFixture};

use crate::support::{MAKER, Site, options};

const SCHEMA: &str = "sequent_store";

struct StoreSchema {
    site: Site,
    dump: Mutex<String>,
}

impl StoreSchema {
    async fn new() -> Self {
        Self { site: Site::new().await, dump: Mutex::default() }
    }
}

impl StoreFixture for StoreSchema {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async { Arc::new(self.site.store()) as Arc<dyn Store> })
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.site.server.restart().await;
            true
        })
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            *self.dump.lock().unwrap() = self.site.dump(SCHEMA);
            true
        })
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            let dump = self.dump.lock().unwrap().clone();
            self.site.load(SCHEMA, &dump).await;
            true
        })
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let text = key.as_str().replace('\'', "''");
            let sql =
                format!("DELETE FROM {SCHEMA}.cells WHERE k = convert_to('{text}', 'UTF8') RETURNING 1");
            self.site.server.sql(&sql).await.trim() == "1"
        })
    }

    fn befall<'a>(&'a self, mishap: Mishap<'a>) -> BoxFuture<'a, bool> {
        let server = &self.site.server;
        Box::pin(async move {
            match mishap {
                Mishap::Killed => server.kill().await,
                Mishap::Hung => server.suspend().await,
                Mishap::Resumed => server.resume().await,
                Mishap::Truncated(_) => drop(server.sql(&format!("TRUNCATE {SCHEMA}.cells")).await),
                Mishap::TablesGone => drop(server.sql(&format!("DROP SCHEMA {SCHEMA} CASCADE")).await),
            }
            true
        })
    }

    fn open_oddly(&self, how: Odd) -> BoxFuture<'_, Option<Arc<dyn Store>>> {
        let (url, create) = match how {
            Odd::WrongPassword => (self.site.server.url_as(MAKER, "wrong-word").parse().unwrap(), true),
            Odd::MakesNothing => (self.site.url(MAKER), false),
        };
        let store = PostgresStore::new(ServerOptions { create, ..options(url) });
        Box::pin(std::future::ready(Some(Arc::new(store) as Arc<dyn Store>)))
    }
}

sequent_testkit::store_conformance!(StoreSchema::new().await);
