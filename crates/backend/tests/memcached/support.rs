//! A server, what is asked of it behind the store's back, and an epoch begun in it.

use std::time::Duration;

use sequent_backend::{
    memcached::MemcachedStore,
    net::{Owner, ServerOptions},
};
use sequent_core::{Block, Cell, Epoch, ErrorKind, InstanceId, Key, SourceError, Store};
use sequent_testkit::servers::Memcached;

pub(crate) const PASSWORD: &str = "word-of-a-test";

pub(crate) fn owner() -> Owner {
    Owner { cluster: "shop-eu".parse().unwrap(), slot: 1 }
}

pub(crate) fn options(url: &str) -> ServerOptions {
    // A test's machine may be busy: what is tested is not how fast it connects.
    ServerOptions { connect_timeout: Duration::from_secs(20), ..ServerOptions::from_url(url).unwrap() }
}

pub(crate) fn store(server: &Memcached) -> MemcachedStore {
    MemcachedStore::new(options(&server.url()), owner())
}

/// Where the owner's cell of a key is.
pub(crate) fn cell_name(key: &str) -> String {
    format!("sequent/shop-eu/1/cell/{key}")
}

/// Where the owner's stamp and mark are.
pub(crate) const SHARD: &str = "sequent/shop-eu/1/shard";

/// A store, the instance that it spoke as, and an epoch begun in it.
pub(crate) struct Counting {
    pub(crate) store: MemcachedStore,
    pub(crate) under: InstanceId,
    pub(crate) order: Key,
}

impl Counting {
    pub(crate) async fn begin(store: MemcachedStore, base: u64) -> Self {
        let under = store.inspect().await.unwrap().instance;
        let counting = Self { store, under, order: key("order") };
        counting.reopen(1, base).await.unwrap();
        counting
    }

    /// A close for the epoch of these bits, and its install; what the close found.
    pub(crate) async fn reopen(&self, bits: i64, base: u64) -> Result<u64, SourceError> {
        let found = self.store.close(self.cell(), epoch(bits)).await?;
        self.store.install(self.cell(), epoch(bits), base).await?;
        Ok(found)
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
    assert!(!error.to_string().contains(PASSWORD), "a secret is in {error}");
}
