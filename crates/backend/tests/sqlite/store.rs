//! The store against the conformance suite.

use std::sync::Arc;

use sequent_core::{BoxFuture, Key, Store};
use sequent_testkit::conformance::store::StoreFixture;

use crate::support::Site;

struct StoreFile(Site);

fn done<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl StoreFixture for StoreFile {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        done(Arc::new(self.0.store()))
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        done(true)
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        self.0.backup(&self.0.folder.path().join("backup"));
        done(true)
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        self.0.restore(&self.0.folder.path().join("backup"));
        done(true)
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let mut stranger = self.0.stranger().await;
            let query = sqlx::query("DELETE FROM cells WHERE k = ?1").bind(key.as_str());
            query.execute(&mut stranger).await.unwrap().rows_affected() == 1
        })
    }
}

sequent_testkit::store_conformance!(StoreFile(Site::new()));
