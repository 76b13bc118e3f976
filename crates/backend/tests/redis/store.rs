//! The store against the conformance suite, on servers that forget and on servers that don't.

use std::sync::Arc;

use sequent_backend::redis::RedisStore;
use sequent_core::{BoxFuture, Key, Store};
use sequent_testkit::{
    conformance::store::{Mishap, Odd, StoreFixture},
    servers::{RedisServer, SpeaksRedis, ValkeyServer},
};

use crate::support::{DURABLE, FORGETFUL, Site, USER, cell_name, options, owner, witness_name};

struct Fixture<P: SpeaksRedis> {
    site: Site<P>,
}

impl<P: SpeaksRedis> Fixture<P> {
    async fn new(settings: &[(&str, &str)]) -> Self {
        Self { site: Site::of(settings).await }
    }
}

impl<P: SpeaksRedis> StoreFixture for Fixture<P> {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async { Arc::new(self.site.store()) as Arc<dyn Store> })
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.site.restart().await;
            true
        })
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        let names = [cell_name(key.as_str()), witness_name(key.as_str())];
        Box::pin(async move { self.site.server.ask(&["DEL", &names[0], &names[1]]).await == "2" })
    }

    fn befall<'a>(&'a self, mishap: Mishap<'a>) -> BoxFuture<'a, bool> {
        let server = &self.site.server;
        Box::pin(async move {
            match mishap {
                Mishap::Killed => server.kill().await,
                Mishap::Hung => server.suspend().await,
                Mishap::Resumed => server.resume().await,
                Mishap::Truncated(_) => drop(server.ask(&["FLUSHALL"]).await),
                // There are no tables: a close makes what it needs.
                Mishap::TablesGone => return false,
            }
            true
        })
    }

    fn open_oddly(&self, how: Odd) -> BoxFuture<'_, Option<Arc<dyn Store>>> {
        let store = match how {
            Odd::WrongPassword => {
                let url = self.site.server.url_as(USER, "wrong-word");
                Some(Arc::new(RedisStore::new(options(&url), owner())) as Arc<dyn Store>)
            }
            Odd::MakesNothing => None,
        };
        Box::pin(std::future::ready(store))
    }
}

mod forgetful {
    use super::*;
    sequent_testkit::store_conformance!(Fixture::<RedisServer>::new(FORGETFUL).await);
}

mod durable {
    use super::*;
    sequent_testkit::store_conformance!(Fixture::<RedisServer>::new(DURABLE).await);
}

/// The same of Valkey, with what it may forget and what it keeps by itself.
mod valkey {
    use super::*;
    sequent_testkit::store_conformance!(Fixture::<ValkeyServer>::new(FORGETFUL).await);

    #[tokio::test]
    async fn it_is_told_by_its_name_and_classed_by_its_settings() {
        for (settings, class) in [(FORGETFUL, "volatile"), (DURABLE, "durable")] {
            let found = Site::<ValkeyServer>::of(settings).await.store().inspect().await.unwrap();
            assert!(found.version.starts_with("Valkey "), "{found:?}");
            assert_eq!(found.durability.class.as_str(), class, "{found:?}");
        }
    }
}
