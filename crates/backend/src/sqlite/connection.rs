//! SQLite connection to one file: opened, validated, and identified by its instance.

use std::{path::Path, time::Duration};

use sequent_core::{Durability, DurabilityClass, Env, Fact, InstanceId};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection as _, Row, Sqlite, TypeInfo, ValueRef,
    query::Query,
    sqlite::{SqliteArguments, SqliteConnectOptions, SqliteRow, SqliteSynchronous},
};

use super::{
    checked_close::CheckedClose,
    disk,
    fault::from_driver,
    file_identity::{FileId, Place},
};
use crate::{
    net::{self, Fault, Run, TxMode},
    sql::{self, ServerFacts, SqlRow, SqlSession, Value},
};

/// The tables of a store or of a ledger, and the identification of their file.
#[derive(Debug)]
pub(super) struct Tables {
    /// `store` or `ledger`, for operators.
    pub(super) kind: &'static str,
    /// The application id in the file's header.
    pub(super) application_id: i64,
    /// The version of the tables, in the file's header.
    pub(super) version: i64,
    /// The statements that create them, headers included.
    pub(super) statements: &'static [&'static str],
    /// Writes the identity `?1` of a new file.
    pub(super) first_row: &'static str,
    /// Reads the token that names the current history of the file.
    pub(super) token: &'static str,
}

/// The options of every connection.
pub(super) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .synchronous(SqliteSynchronous::Full)
        // SQLite's own waiting is unfair: of 16 processes one made 13,000 takes, another 1. `net::retry` waits instead.
        .busy_timeout(Duration::ZERO)
        .disable_statement_logging()
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(super) inner: CheckedClose,
    instance: InstanceId,
    /// By the actual settings.
    pub(super) durability: Durability,
    env: Env,
    /// Whether it is read-only.
    looks: bool,
}

impl Connection {
    /// Connects to an existing file. A file of another kind is left unchanged.
    pub(super) async fn open(
        place: &Place,
        file: FileId,
        tables: &Tables,
        env: Env,
        looks: bool,
    ) -> Result<Self, Fault> {
        let inner = CheckedClose::open(place, file).await?;
        let durability = Durability { class: DurabilityClass::Lossy, settings: Vec::new() };
        let instance = InstanceId::new("");
        let mut connection = Self { inner, instance, durability, env, looks };
        if looks {
            connection.control("PRAGMA query_only = ON").await?;
        }
        connection.check_kind(tables).await?;
        connection.ensure_durability().await?;
        let token = connection.only(tables.token, Vec::new()).await?.text()?;
        connection.instance = connection.as_token(&token);
        Ok(connection)
    }

    async fn check_kind(&mut self, tables: &Tables) -> Result<(), Fault> {
        let sql =
            "SELECT a.application_id, v.user_version FROM pragma_application_id a, pragma_user_version v";
        let mut row = self.only(sql, Vec::new()).await?;
        let (application, version) = (row.int()?, row.int()?);
        if application != tables.application_id {
            let expected = format!("application_id {:#x} of a {}", tables.application_id, tables.kind);
            let found = match application {
                super::store::APPLICATION_ID => "a shard's file",
                super::ledger::APPLICATION_ID => "a ledger's file",
                _ => "not a file of ours",
            };
            let cause = format!(
                "{found}: found application_id {application:#x}, expected {expected}; were files exchanged? put each \
                 into its own place"
            );
            return Err(Fault::refused(cause));
        }
        if version != tables.version {
            let expected = tables.version;
            let cause = format!("schema version: found {version}, expected {expected}");
            return Err(Fault::refused(cause));
        }
        Ok(())
    }

    /// Applies the settings that make a commit durable, and records their actual values.
    async fn ensure_durability(&mut self) -> Result<(), Fault> {
        let mut journal = self.only("PRAGMA journal_mode", Vec::new()).await?.text()?;
        if journal != "wal" && !self.looks {
            journal = self.only("PRAGMA journal_mode = WAL", Vec::new()).await?.text()?;
        }
        let synchronous = self.only("PRAGMA synchronous", Vec::new()).await?.int()?;
        let class = durability(&journal, synchronous);
        let synchronous = match synchronous {
            0 => "off",
            1 => "normal",
            2 => "full",
            _ => "extra",
        };
        let settings =
            vec![("journal_mode".to_owned(), journal), ("synchronous".to_owned(), synchronous.to_owned())];
        self.durability = Durability { class, settings };
        Ok(())
    }

    /// The instance of a file with this token.
    pub(super) fn as_token(&self, token: &str) -> InstanceId {
        InstanceId::new(format!("sqlite {token} {}", self.inner.file))
    }

    /// Wall time, in milliseconds since 1970.
    pub(super) fn wall_ms(&self) -> u64 {
        self.env.clock.wall_ms()
    }

    /// Closes the connection after its last statement, unless it must stay open. `Some`: its files can't be written
    /// now, and it is still open.
    pub(super) async fn close_checked(mut self) -> Option<Self> {
        if self.inner.part().await { None } else { Some(self) }
    }
}

/// Measured with simulated power cuts: WAL with NORMAL lost commits. WAL or a rollback journal with FULL lost none.
fn durability(journal: &str, synchronous: i64) -> DurabilityClass {
    let journal_outlives = matches!(journal, "wal" | "delete" | "truncate" | "persist");
    if journal_outlives && synchronous >= 2 { DurabilityClass::Durable } else { DurabilityClass::Lossy }
}

impl net::Connection for Connection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        self.inner.connection()?.ping().await.map_err(from_driver)
    }

    async fn attempt<T: Send>(&mut self, mode: TxMode, run: &Run<'_, Self, T>) -> Result<T, Fault> {
        sql::attempt(self, mode, run).await
    }
}

impl SqlSession for Connection {
    fn begin(&self, mode: TxMode) -> &'static str {
        if mode == TxMode::Write && !self.looks { "BEGIN IMMEDIATE" } else { "BEGIN" }
    }

    async fn rows(&mut self, sql: &str, params: Vec<Value>) -> Result<Vec<SqlRow>, Fault> {
        let rows = bound(sql, params).fetch_all(self.inner.connection()?).await.map_err(from_driver)?;
        rows.iter().map(values).collect::<Result<_, _>>().map_err(from_driver)
    }

    async fn execute(&mut self, sql: &str, params: Vec<Value>) -> Result<u64, Fault> {
        let done = bound(sql, params).execute(self.inner.connection()?).await.map_err(from_driver)?;
        Ok(done.rows_affected())
    }

    async fn server_facts(&mut self) -> Result<ServerFacts, Fault> {
        let version = self.only("SELECT sqlite_version()", Vec::new()).await?.text()?;
        Ok(ServerFacts { durability: self.durability.clone(), engine: format!("SQLite {version}") })
    }

    async fn facts(&mut self) -> Result<Vec<Fact>, Fault> {
        disk::facts(self).await
    }
}

/// The parameters of a prepared statement.
fn bound(sql: &str, params: Vec<Value>) -> Query<'_, Sqlite, SqliteArguments> {
    let query = sqlx::query(AssertSqlSafe(sql));
    params.into_iter().fold(query, |query, value| match value {
        Value::Int(number) => query.bind(number),
        Value::Text(text) => query.bind(text),
        Value::Bytes(bytes) => query.bind(bytes),
        Value::Null | Value::NoText | Value::Ints(_) | Value::Texts(_) | Value::ManyBytes(_) => {
            query.bind(None::<i64>)
        }
    })
}

fn values(row: &SqliteRow) -> Result<SqlRow, sqlx::Error> {
    let value = |at| {
        let raw = row.try_get_raw(at)?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        match raw.type_info().name() {
            "INTEGER" | "BOOLEAN" => row.try_get_unchecked(at).map(Value::Int),
            "BLOB" => row.try_get_unchecked(at).map(Value::Bytes),
            _ => row.try_get_unchecked(at).map(Value::Text),
        }
    };
    Ok(SqlRow::new((0..row.len()).map(value).collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_lose_commits_is_lossy() {
        let expected = [
            ("wal", 2, DurabilityClass::Durable),
            ("wal", 3, DurabilityClass::Durable),
            ("delete", 2, DurabilityClass::Durable),
            ("wal", 1, DurabilityClass::Lossy),
            ("wal", 0, DurabilityClass::Lossy),
            ("memory", 2, DurabilityClass::Lossy),
            ("off", 2, DurabilityClass::Lossy),
        ];
        for (journal, synchronous, class) in expected {
            assert_eq!(durability(journal, synchronous), class, "{journal} {synchronous}");
        }
    }
}
