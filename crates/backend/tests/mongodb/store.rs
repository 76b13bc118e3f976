//! The store against the conformance suite, on a double that compares identities and on one that does not.

use std::sync::{Arc, Mutex};

use sequent_core::{BoxFuture, Key, Store};
use sequent_testkit::{
    conformance::store::{Mishap, Odd, StoreFixture},
    mongo::{DataCopy, MongoDouble, Role, Setting},
};

use crate::support::{CELLS, options, store};

struct OnDouble {
    server: MongoDouble,
    copy: Mutex<Option<DataCopy>>,
}

impl OnDouble {
    fn new(settings: &[Setting]) -> Self {
        let server = MongoDouble::start();
        for setting in settings {
            server.set(*setting);
        }
        Self { server, copy: Mutex::default() }
    }
}

impl StoreFixture for OnDouble {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(std::future::ready(Arc::new(store(&self.server)) as Arc<dyn Store>))
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        self.server.restart();
        Box::pin(std::future::ready(true))
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        *self.copy.lock().unwrap() = Some(self.server.copy());
        Box::pin(std::future::ready(true))
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        self.server.restore(self.copy.lock().unwrap().as_ref().unwrap());
        Box::pin(std::future::ready(true))
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(self.server.delete(CELLS, key.as_str().as_bytes())))
    }

    fn befall<'a>(&'a self, mishap: Mishap<'a>) -> BoxFuture<'a, bool> {
        match mishap {
            Mishap::Killed => self.server.kill(),
            Mishap::Hung => self.server.suspend(),
            Mishap::Resumed => self.server.resume(),
            Mishap::Truncated(_) => self.server.empty(CELLS),
            Mishap::TablesGone => self.server.drop_database(),
        }
        Box::pin(std::future::ready(true))
    }

    fn open_oddly(&self, how: Odd) -> BoxFuture<'_, Option<Arc<dyn Store>>> {
        use sequent_backend::{mongodb::MongodbStore, net::ServerOptions};

        let store = match how {
            Odd::WrongPassword => MongodbStore::new(options(&self.server.url_with("wrong-word"))),
            Odd::MakesNothing => {
                MongodbStore::new(ServerOptions { create: false, ..options(&self.server.url()) })
            }
        };
        Box::pin(std::future::ready(Some(Arc::new(store) as Arc<dyn Store>)))
    }
}

sequent_testkit::store_conformance!(OnDouble::new(&[]));

/// As servers before 6.0 are.
mod on_one_that_does_not_compare {
    use super::{OnDouble, Setting};

    sequent_testkit::store_conformance!(OnDouble::new(&[Setting::ComparesUuid(false)]));
}

/// The primary of a replica set.
mod on_a_primary {
    use super::{OnDouble, Role, Setting};

    sequent_testkit::store_conformance!(OnDouble::new(&[Setting::Role(Role::Primary)]));
}
