//! The ledger against the conformance suite.

use std::sync::Arc;

use sequent_core::{BoxFuture, ledger::Ledger};
use sequent_testkit::conformance::ledger::LedgerFixture;
use sqlx::{Connection, SqliteConnection};

use crate::support::{Site, copy, remove};

struct LedgerFile(Site);

fn done<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl LedgerFixture for LedgerFile {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>> {
        done(Arc::new(self.0.ledger()))
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        done(true)
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            // One file, whatever is in the log: what is written over the ledger below is then complete.
            let backup = self.0.folder.path().join("backup");
            remove(&backup);
            let text = backup.to_str().unwrap();
            let mut stranger = self.0.stranger().await;
            sqlx::query("VACUUM INTO ?1").bind(text).execute(&mut stranger).await.unwrap();
            let mut vacuumed = SqliteConnection::connect(text).await.unwrap();
            sqlx::query("PRAGMA journal_mode = WAL").execute(&mut vacuumed).await.unwrap();
            vacuumed.close().await.unwrap();
            true
        })
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        self.0.restore(&self.0.folder.path().join("backup"));
        done(true)
    }

    fn restore_in_place(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            // With the log empty, the file alone is the database; the next reader sees that it was changed.
            let mut stranger = self.0.stranger().await;
            let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
            sqlx::query(truncate).execute(&mut stranger).await.unwrap();
            copy(&self.0.folder.path().join("backup"), &self.0.path);
            true
        })
    }
}

sequent_testkit::ledger_conformance!(LedgerFile(Site::new()));

/// The same ledger, keeping only some of the rules.
#[cfg(feature = "mutation")]
struct Mutant {
    site: Site,
    rules: sequent_core::Rules,
}

#[cfg(feature = "mutation")]
impl LedgerFixture for Mutant {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>> {
        Box::pin(std::future::ready(Arc::new(self.site.ledger().keeping(self.rules)) as Arc<dyn Ledger>))
    }
}

#[cfg(feature = "mutation")]
sequent_testkit::ledger_mutations!(async |rules| Mutant { site: Site::new(), rules });
