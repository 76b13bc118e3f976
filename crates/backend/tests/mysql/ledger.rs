//! The ledger against the conformance suite.

use std::{sync::Arc, time::Duration};

use mysql_async::{Conn, prelude::Queryable};
use sequent_backend::mysql::MysqlLedger;
use sequent_core::{BoxFuture, ledger::Ledger};
use sequent_testkit::conformance::ledger::LedgerFixture;

use crate::support::{LEDGER, Site};

/// For so long a stranger holds a row.
const HELD: Duration = Duration::from_secs(2);

struct Book(Site);

impl Book {
    /// Another client of the database runs a statement, and commits it after some seconds.
    async fn stranger(&self, sql: String) -> bool {
        let mut stranger = Conn::from_url(self.0.server.url_as("shop", "a%20secret")).await.unwrap();
        stranger.query_drop("START TRANSACTION").await.unwrap();
        stranger.query_drop(sql).await.unwrap();
        tokio::spawn(async move {
            tokio::time::sleep(HELD).await;
            stranger.query_drop("COMMIT").await.unwrap();
        });
        true
    }
}

impl LedgerFixture for Book {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>> {
        Box::pin(std::future::ready(Arc::new(MysqlLedger::new(self.0.options())) as Arc<dyn Ledger>))
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.0.server.kill().await;
            self.0.server.restart().await;
            true
        })
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.0.dump().await;
            true
        })
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.0.load().await;
            true
        })
    }

    fn restore_in_place(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.0.load_rows().await;
            true
        })
    }

    fn hold_dense<'a>(&'a self, key: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(self.stranger(format!("SELECT * FROM sequent_dense WHERE k = '{key}' FOR UPDATE")))
    }

    fn begin_dense<'a>(&'a self, key: &'a str, value: u64) -> BoxFuture<'a, bool> {
        Box::pin(self.stranger(format!("INSERT INTO sequent_dense VALUES ('{key}', {value}, 0)")))
    }
}

sequent_testkit::ledger_conformance!(Book(Site::new(LEDGER).await));

/// The same ledger, keeping only some of the rules.
#[cfg(feature = "mutation")]
struct Mutant {
    site: Site,
    rules: sequent_core::Rules,
}

#[cfg(feature = "mutation")]
impl LedgerFixture for Mutant {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>> {
        Box::pin(std::future::ready(
            Arc::new(MysqlLedger::new(self.site.options()).keeping(self.rules)) as Arc<dyn Ledger>
        ))
    }
}

#[cfg(feature = "mutation")]
sequent_testkit::ledger_mutations!(async |rules| Mutant { site: Site::new(LEDGER).await, rules });
