//! A server with a user who has what the documentation says he needs, and no more.

use std::time::Duration;

use sequent_backend::{
    net::{Owner, ServerOptions},
    redis::RedisStore,
};
use sequent_core::{Block, Cell, Epoch, ErrorKind, InstanceId, Key, SourceError, Store};
use sequent_testkit::servers::{RedisLike, RedisServer, Server, SpeaksRedis};

/// The documentation's user.
pub(crate) const USER: &str = "sequent";
pub(crate) const PASSWORD: &str = "word-of-a-test";

/// Nothing is ever written to the disk: what such a server acknowledged is gone when it ends.
pub(crate) const FORGETFUL: &[(&str, &str)] = &[("save", ""), ("appendonly", "no")];
/// What is acknowledged is on the disk.
pub(crate) const DURABLE: &[(&str, &str)] = &[("save", ""), ("appendonly", "yes"), ("appendfsync", "always")];

/// How often the server is asked for what is about to happen: half a minute at least.
const LOOKS_MAX: usize = 1500;

/// A server of its own: Redis, or one that speaks as it does.
pub(crate) struct Site<P: SpeaksRedis = RedisServer> {
    pub(crate) server: Server<RedisLike<P>>,
}

impl Site {
    /// One that writes nothing to the disk.
    pub(crate) async fn new() -> Self {
        Self::with(FORGETFUL).await
    }

    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        Self::of(settings).await
    }
}

impl<P: SpeaksRedis> Site<P> {
    pub(crate) async fn of(settings: &[(&str, &str)]) -> Self {
        let site = Self { server: Server::start_with(settings).await };
        site.let_in().await;
        site
    }

    /// Users live in the server's memory: one that was started again knows them no more.
    pub(crate) async fn let_in(&self) {
        let statement = documented_user();
        self.server.ask(&statement.split(' ').collect::<Vec<_>>()).await;
    }

    /// Starts it again, and lets the user in.
    pub(crate) async fn restart(&self) {
        self.server.restart().await;
        self.let_in().await;
    }

    pub(crate) fn url(&self) -> String {
        self.server.url_as(USER, PASSWORD)
    }

    pub(crate) fn store(&self) -> RedisStore {
        RedisStore::new(options(&self.url()), owner())
    }

    /// Asks the server until the answer is as expected, which needs no more than a moment.
    pub(crate) async fn until(&self, words: &[&str], expected: impl Fn(&str) -> bool) {
        for _ in 0..LOOKS_MAX {
            if self.server.try_ask(words).await.is_ok_and(|answer| expected(&answer)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("not after {LOOKS_MAX} looks: {words:?}");
    }
}

pub(crate) fn owner() -> Owner {
    Owner { cluster: "shop-eu".parse().unwrap(), slot: 1 }
}

pub(crate) fn options(url: &str) -> ServerOptions {
    // A test's machine may be busy: what is tested is not how fast it connects.
    ServerOptions { connect_timeout: Duration::from_secs(20), ..ServerOptions::from_url(url).unwrap() }
}

/// Where the owner's cell of a key is.
pub(crate) fn cell_name(key: &str) -> String {
    format!("sequent/shop-eu/1/cell/{key}")
}

/// Where its witness is.
pub(crate) fn witness_name(key: &str) -> String {
    format!("sequent/shop-eu/1/witness/{key}")
}

/// Where the owner's stamp and mark are.
pub(crate) const SHARD: &str = "sequent/shop-eu/1/shard";

/// The documentation's statement, with a password.
pub(crate) fn documented_user() -> String {
    let page = include_str!("../../src/redis/mod.rs");
    let found = page.lines().find_map(|line| line.strip_prefix("//! ACL SETUSER"));
    let statement = found.unwrap_or_else(|| panic!("the documentation has no user"));
    format!("ACL SETUSER{}", statement.replace(">PASSWORD", &format!(">{PASSWORD}")))
}

/// A store, the instance that it spoke as, and an epoch begun in it.
pub(crate) struct Counting {
    pub(crate) store: RedisStore,
    pub(crate) under: InstanceId,
    pub(crate) order: Key,
}

impl Counting {
    pub(crate) async fn begin(store: RedisStore, base: u64) -> Self {
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
