//! A server with a role that has what the documentation says it needs, and no more.

use std::process::Command;

use sequent_backend::{
    net::{ServerOptions, ServerUrl},
    postgres::{PostgresLedger, PostgresStore},
};
use sequent_core::{Block, Cell, Epoch, ErrorKind, InstanceId, Key, SourceError, Store};
use sequent_testkit::servers::{Postgres, Program};

const DUMP: Program =
    Program { name: "pg_dump", package: "postgresql-client", folders: &["/usr/lib/postgresql/*/bin"] };

/// The role that makes its own tables.
pub(crate) const MAKER: &str = "seq";
/// The role that only uses them.
pub(crate) const RUNNER: &str = "seq_run";
pub(crate) const PASSWORD: &str = "word-of-a-test";

/// How often the server is asked for what is about to happen: half a minute at least.
const LOOKS_MAX: usize = 1500;

/// A server of its own.
pub(crate) struct Site {
    pub(crate) server: Postgres,
}

impl Site {
    pub(crate) async fn new() -> Self {
        Self::with(&[]).await
    }

    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        let server = Postgres::start_with(settings).await;
        // What everybody may do by default would hide a grant that is missing.
        let sql = format!(
            "REVOKE ALL ON DATABASE postgres FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC; \
             CREATE ROLE {MAKER} LOGIN PASSWORD '{PASSWORD}'; CREATE ROLE {RUNNER} LOGIN PASSWORD '{PASSWORD}'; \
             GRANT CONNECT, CREATE ON DATABASE postgres TO {MAKER}; GRANT CONNECT ON DATABASE postgres TO {RUNNER};"
        );
        server.sql(&sql).await;
        Self { server }
    }

    pub(crate) fn url(&self, role: &str) -> ServerUrl {
        self.server.url_as(role, PASSWORD).parse().unwrap()
    }

    pub(crate) fn store(&self) -> PostgresStore {
        PostgresStore::new(options(self.url(MAKER)))
    }

    pub(crate) fn ledger(&self) -> PostgresLedger {
        PostgresLedger::new(options(self.url(MAKER)))
    }

    /// What `pg_dump` writes of a schema, as an operator's backup.
    pub(crate) fn dump(&self, schema: &str) -> String {
        let mut command = Command::new(DUMP.path());
        command.arg(format!("--schema={schema}")).arg(self.server.url());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Asks the server until the answer is as expected, which needs no more than a moment.
    pub(crate) async fn until(&self, sql: &str, expected: impl Fn(&str) -> bool) {
        for _ in 0..LOOKS_MAX {
            // It may be recovering just now.
            if self.server.try_sql(sql).await.is_ok_and(|answer| expected(answer.trim())) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("not after {LOOKS_MAX} looks: {sql}");
    }

    /// Drops the schema and loads the backup, while connections stay open.
    pub(crate) async fn load(&self, schema: &str, dump: &str) {
        self.server.sql(&format!("DROP SCHEMA {schema} CASCADE;\n{dump}")).await;
    }
}

pub(crate) fn options(url: ServerUrl) -> ServerOptions {
    // A test's machine may be busy: what is tested is not how fast it connects.
    ServerOptions {
        create: true,
        connect_timeout: std::time::Duration::from_secs(20),
        ..ServerOptions::new(url)
    }
}

/// The documentation's grants for a kind of tables: the statements that stand in it.
pub(crate) fn documented_grants(schema: &str) -> String {
    let page = include_str!("../../src/postgres/mod.rs");
    let lines: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("//! ")).collect();
    let statements = lines.join(" ");
    let grants = statements.split(';').filter_map(|piece| piece.find("GRANT ").map(|at| &piece[at..]));
    let grants: Vec<&str> = grants.filter(|grant| grant.contains(schema) && grant.contains(RUNNER)).collect();
    assert!(grants.len() > 3, "the documentation lists the grants for {schema}: {grants:?}");
    grants.join(";\n") + ";"
}

/// A store, the instance that it spoke as, and an epoch begun in it.
pub(crate) struct Counting {
    pub(crate) store: PostgresStore,
    pub(crate) under: InstanceId,
    pub(crate) order: Key,
}

impl Counting {
    pub(crate) async fn begin(store: PostgresStore, base: u64) -> Self {
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
    assert!(!error.to_string().contains(PASSWORD), "a secret is in {error}");
}
