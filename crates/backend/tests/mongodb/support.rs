//! A double, and stores on it.

use std::time::Duration;

use sequent_backend::{mongodb::MongodbStore, net::ServerOptions};
use sequent_core::{Block, Cell, Epoch, ErrorKind, InstanceId, Key, SourceError, Store};
use sequent_testkit::mongo::MongoDouble;

pub(crate) const CELLS: &str = "sequent_cells";
pub(crate) const SHARD: &str = "sequent_shard";

pub(crate) fn options(url: &str) -> ServerOptions {
    // A test's machine may be busy: what is tested is not how fast it connects.
    let connect_timeout = Duration::from_secs(20);
    ServerOptions { create: true, connect_timeout, ..ServerOptions::from_url(url).unwrap() }
}

pub(crate) fn store(server: &MongoDouble) -> MongodbStore {
    MongodbStore::new(options(&server.url()))
}

/// A store, the instance that it spoke as, and an epoch begun in it.
pub(crate) struct Counting {
    pub(crate) store: MongodbStore,
    pub(crate) under: InstanceId,
    pub(crate) order: Key,
}

impl Counting {
    pub(crate) async fn begin(store: MongodbStore, base: u64) -> Self {
        let under = store.inspect().await.unwrap().instance;
        let counting = Self { store, under, order: key("order") };
        counting.store.close(counting.cell(), epoch(1)).await.unwrap();
        counting.store.install(counting.cell(), epoch(1), base).await.unwrap();
        counting
    }

    pub(crate) fn cell(&self) -> Cell<'_> {
        Cell { key: &self.order, under: &self.under }
    }

    pub(crate) async fn take(&self, want: u64) -> Result<Block, SourceError> {
        self.store.take(self.cell(), epoch(1), want).await
    }
}

pub(crate) fn key(text: &str) -> Key {
    Key::from_stored(text)
}

pub(crate) fn epoch(bits: i64) -> Epoch {
    Epoch::from_stored(bits)
}

/// Asserts that a verb failed for this reason, that its text names each of `parts`, and no secret.
#[track_caller]
pub(crate) fn failed<T: std::fmt::Debug>(answer: Result<T, SourceError>, kind: ErrorKind, parts: &[&str]) {
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "{part:?} is not in {error}");
    }
    assert!(!error.to_string().contains(MongoDouble::PASSWORD), "a secret is in {error}");
}

/// How often the double is asked for what is about to happen: half a minute at least.
const LOOKS_MAX: usize = 6000;

/// Looks until it is as expected, which needs no more than a moment.
pub(crate) async fn until(what: &str, expected: impl Fn() -> bool) {
    for _ in 0..LOOKS_MAX {
        if expected() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("not after {LOOKS_MAX} looks: {what}");
}
