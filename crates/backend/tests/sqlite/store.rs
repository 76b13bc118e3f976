//! The store against the conformance suite.

use std::sync::Arc;

use sequent_backend::sqlite::{SqliteOptions, SqliteStore};
use sequent_core::{BoxFuture, Key, Store};
use sequent_testkit::conformance::store::{Mishap, Odd, StoreFixture};

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

    /// There is no server to kill or to hang: processes are killed, and disks hang, in tests of their own.
    fn befall<'a>(&'a self, mishap: Mishap<'a>) -> BoxFuture<'a, bool> {
        let sql = match mishap {
            Mishap::Truncated(_) => "DELETE FROM cells",
            Mishap::TablesGone => "DROP TABLE cells",
            Mishap::Killed | Mishap::Hung | Mishap::Resumed => return done(false),
        };
        Box::pin(async move {
            sqlx::query(sql).execute(&mut self.0.stranger().await).await.unwrap();
            true
        })
    }

    fn open_oddly(&self, how: Odd) -> BoxFuture<'_, Option<Arc<dyn Store>>> {
        let idle = || Arc::new(SqliteStore::new(&self.0.path, SqliteOptions::default())) as Arc<dyn Store>;
        done((how == Odd::MakesNothing).then(idle))
    }
}

sequent_testkit::store_conformance!(StoreFile(Site::new()));
