//! The ledger against the conformance suite.

use std::sync::Arc;

use sequent_backend::mysql::MysqlLedger;
use sequent_core::{BoxFuture, ledger::Ledger};
use sequent_testkit::conformance::ledger::LedgerFixture;

use crate::support::{LEDGER, Site};

struct Book(Site);

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
}

sequent_testkit::ledger_conformance!(Book(Site::new(LEDGER).await));
