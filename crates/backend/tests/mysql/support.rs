//! A server for each test, with users who have exactly the grants that are written down.

use std::sync::Arc;

use sequent_backend::{
    mysql::{MysqlAutoIncrementStore, MysqlRowStore, MysqlSegmentStore},
    net::ServerOptions,
};
use sequent_core::{Block, BoxFuture, Cell, Epoch, ErrorKind, InstanceId, Key, SourceError, Store};
use sequent_testkit::{
    conformance::store::{Mishap, Odd, StoreFixture},
    servers::MariaDb,
};

/// What `mysql-row` and `mysql-segment` need, as the crate's page has it.
pub(crate) const ROWS: &str = "SELECT, INSERT, UPDATE, CREATE";
/// What `mysql-auto-increment` needs.
pub(crate) const CODES: &str = "SELECT, INSERT, UPDATE, DELETE, CREATE";
/// What a ledger needs.
pub(crate) const LEDGER: &str = "SELECT, INSERT, UPDATE, DELETE, CREATE";

/// As every dump has it: an id of 0 is one.
const AS_IT_IS: &str = "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'";

/// A server with one database, and a user for it.
pub(crate) struct Site {
    pub(crate) server: MariaDb,
}

impl Site {
    pub(crate) async fn new(grants: &str) -> Self {
        Self::with(grants, &[]).await
    }

    pub(crate) async fn with(grants: &str, settings: &[(&str, &str)]) -> Self {
        let server = MariaDb::start_with(settings).await;
        let user = "'shop'@'127.0.0.1'";
        server
            .sql(&format!(
                "CREATE USER {user} IDENTIFIED BY 'a secret'; GRANT {grants} ON sequent.* TO {user}"
            ))
            .await;
        Self { server }
    }

    pub(crate) fn options(&self) -> ServerOptions {
        Self::options_at(&self.url())
    }

    pub(crate) fn url(&self) -> String {
        self.server.url_as("shop", "a%20secret")
    }

    /// The same options for another URL.
    pub(crate) fn options_at(url: &str) -> ServerOptions {
        let options = ServerOptions::from_url(url).unwrap();
        ServerOptions { create: true, connect_timeout: std::time::Duration::from_secs(5), ..options }
    }

    /// The same server by way of this port.
    pub(crate) fn options_through(&self, port: u16) -> ServerOptions {
        let own = format!(":{}/", self.server.address().port());
        Self::options_at(&self.url().replace(&own, &format!(":{port}/")))
    }

    /// A copy of all tables, as a dump would have it.
    pub(crate) async fn dump(&self) {
        self.server.sql("DROP DATABASE IF EXISTS dumped; CREATE DATABASE dumped").await;
        for table in self.tables().await {
            let sql = format!(
                "{AS_IT_IS}; CREATE TABLE dumped.{table} LIKE sequent.{table}; INSERT INTO dumped.{table} SELECT * FROM sequent.{table}"
            );
            self.server.sql(&sql).await;
        }
    }

    /// Kills the server, and loads the dump into it once it is back: everything is as it was, even the token in memory, but
    /// for when the tables were made, which the server knows to the second.
    pub(crate) async fn load(&self) {
        self.server.kill().await;
        self.server.restart().await;
        self.reload().await;
    }

    /// Loads the dump while everything runs.
    pub(crate) async fn reload(&self) {
        self.server.sql("DO SLEEP(1.01)").await;
        for table in self.tables().await {
            let sql = format!(
                "{AS_IT_IS}; DROP TABLE sequent.{table}; CREATE TABLE sequent.{table} LIKE dumped.{table}; \
                INSERT INTO sequent.{table} SELECT * FROM dumped.{table}"
            );
            self.server.sql(&sql).await;
        }
    }

    /// Puts the rows of the dump back while everything runs.
    pub(crate) async fn load_rows(&self) {
        for table in self.tables().await {
            let sql = format!(
                "{AS_IT_IS}; DELETE FROM sequent.{table}; INSERT INTO sequent.{table} SELECT * FROM dumped.{table}"
            );
            self.server.sql(&sql).await;
        }
    }

    async fn tables(&self) -> Vec<String> {
        let sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'sequent'";
        self.server.sql(sql).await.lines().map(str::to_owned).collect()
    }
}

/// A store on a server of its own.
pub(crate) struct Shard {
    pub(crate) site: Site,
    pub(crate) make: fn(ServerOptions) -> Arc<dyn Store>,
}

impl StoreFixture for Shard {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(std::future::ready((self.make)(self.site.options())))
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.site.server.kill().await;
            self.site.server.restart().await;
            true
        })
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.site.dump().await;
            true
        })
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            self.site.load().await;
            true
        })
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let sql = format!("DELETE FROM sequent_cells WHERE k = '{key}'; SELECT ROW_COUNT()");
            self.site.server.sql(&sql).await.trim() == "1"
        })
    }

    fn befall<'a>(&'a self, mishap: Mishap<'a>) -> BoxFuture<'a, bool> {
        let server = &self.site.server;
        Box::pin(async move {
            match mishap {
                Mishap::Killed => server.kill().await,
                Mishap::Hung => server.suspend().await,
                Mishap::Resumed => server.resume().await,
                Mishap::Truncated(_) => drop(server.sql("TRUNCATE sequent_cells").await),
                Mishap::TablesGone => {
                    for table in self.site.tables().await {
                        server.sql(&format!("DROP TABLE `{table}`")).await;
                    }
                }
            }
            true
        })
    }

    fn open_oddly(&self, how: Odd) -> BoxFuture<'_, Option<Arc<dyn Store>>> {
        let options = match how {
            Odd::WrongPassword => Site::options_at(&self.site.server.url_as("shop", "another")),
            Odd::MakesNothing => ServerOptions { create: false, ..self.site.options() },
        };
        Box::pin(std::future::ready(Some((self.make)(options))))
    }
}

/// A way to count, by its name.
pub(crate) type Way = (&'static str, fn(ServerOptions) -> Arc<dyn Store>);

/// The three ways to count.
pub(crate) const WAYS: [Way; 3] =
    [("mysql-row", row), ("mysql-segment", segment), ("mysql-auto-increment", auto_increment)];

pub(crate) fn row(options: ServerOptions) -> Arc<dyn Store> {
    Arc::new(MysqlRowStore::new(options))
}

pub(crate) fn segment(options: ServerOptions) -> Arc<dyn Store> {
    Arc::new(MysqlSegmentStore::new(options))
}

pub(crate) fn auto_increment(options: ServerOptions) -> Arc<dyn Store> {
    Arc::new(MysqlAutoIncrementStore::new(options, 0))
}

/// A store with the instance under which it was looked at.
pub(crate) struct Hand {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) under: InstanceId,
}

impl Hand {
    pub(crate) async fn of(store: Arc<dyn Store>) -> Result<Self, SourceError> {
        let under = store.inspect().await?.instance;
        Ok(Self { store, under })
    }

    pub(crate) async fn take(&self, key: &str, epoch: i64, want: u64) -> Result<Block, SourceError> {
        let key = Key::from_stored(key);
        self.store.take(Cell { key: &key, under: &self.under }, Epoch::from_stored(epoch), want).await
    }

    pub(crate) async fn close(&self, key: &str, next: i64) -> Result<u64, SourceError> {
        let key = Key::from_stored(key);
        self.store.close(Cell { key: &key, under: &self.under }, Epoch::from_stored(next)).await
    }

    pub(crate) async fn begin(&self, key: &str, epoch: i64, base: u64) -> Result<u64, SourceError> {
        let value = self.close(key, epoch).await?;
        let key = Key::from_stored(key);
        let cell = Cell { key: &key, under: &self.under };
        self.store.install(cell, Epoch::from_stored(epoch), base.max(value)).await?;
        Ok(value)
    }
}

/// Asserts that something failed for this reason, that its text names each of the parts, and no secret.
#[track_caller]
pub(crate) fn failed<T: std::fmt::Debug>(answer: Result<T, SourceError>, kind: ErrorKind, parts: &[&str]) {
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "{part:?} is not in {error}");
    }
    assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
}
