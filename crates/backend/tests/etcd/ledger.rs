//! The ledger against the conformance suite.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use sequent_core::{BoxFuture, ledger::Ledger};
use sequent_testkit::{conformance::ledger::LedgerFixture, servers::Etcd};
use serde_json::{Value, json};

use crate::support::ledger;

/// From the first name to the last.
const EVERYTHING: &str = r#"{"key": "AA==", "range_end": "AA=="}"#;

struct Member {
    server: Etcd,
    /// A snapshot, and everything as the gateway told it.
    copy: Mutex<Option<(PathBuf, Value)>>,
}

impl Member {
    async fn new() -> Self {
        Self { server: Etcd::start().await, copy: Mutex::default() }
    }

    fn copied(&self) -> (PathBuf, Value) {
        self.copy.lock().unwrap().take().unwrap()
    }
}

impl LedgerFixture for Member {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>> {
        Box::pin(async { Arc::new(ledger(&self.server)) as Arc<dyn Ledger> })
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.server.restart().await;
            true
        })
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            let all = self.server.ask("/v3/kv/range", EVERYTHING).await;
            let all = serde_json::from_str(&all).unwrap();
            *self.copy.lock().unwrap() = Some((self.server.snapshot("copy").await, all));
            true
        })
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            // The new cluster has the old one's id, and its first terms again.
            self.server.restore_snapshot(&self.copied().0).await;
            true
        })
    }

    fn restore_in_place(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            // Value by value, in the member that runs: nothing but the nonces can tell.
            self.server.ask("/v3/kv/deleterange", EVERYTHING).await;
            for kv in self.copied().1["kvs"].as_array().unwrap() {
                let put = json!({"key": kv["key"], "value": kv["value"]});
                self.server.ask("/v3/kv/put", &put.to_string()).await;
            }
            true
        })
    }
}

sequent_testkit::ledger_conformance!(Member::new().await);

/// The same ledger, keeping only some of the rules.
#[cfg(feature = "mutation")]
struct Mutant {
    server: Etcd,
    rules: sequent_core::Rules,
}

#[cfg(feature = "mutation")]
impl LedgerFixture for Mutant {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>> {
        Box::pin(std::future::ready(Arc::new(ledger(&self.server).keeping(self.rules)) as Arc<dyn Ledger>))
    }
}

#[cfg(feature = "mutation")]
sequent_testkit::ledger_mutations!(async |rules| Mutant { server: Etcd::start().await, rules });
