//! Statements of the ledger's on a connection to a file.

use sequent_core::{ErrorKind, Fact, Incarnation};
use sqlx::{
    AssertSqlSafe, Row, Sqlite, TypeInfo, ValueRef,
    query::Query,
    query_as,
    sqlite::{SqliteArguments, SqliteRow},
};

use super::statements::STATEMENTS;
use crate::{
    ledger::sql::{Hold, LedgerSession, SqlFacts, Statements},
    sql::{SqlRow, SqlSession, TxMode, Value},
    sqlite::{disk, fault::Fault, link::Link},
};

impl SqlSession for Link {
    type Fault = Fault;

    fn broken(cause: String) -> Fault {
        Fault::broken(ErrorKind::Unavailable, cause)
    }

    fn refused(cause: String) -> Fault {
        Fault::broken(ErrorKind::Refused, cause)
    }

    async fn rows(&mut self, sql: &str, params: Vec<Value>) -> Result<Vec<SqlRow>, Fault> {
        let rows = self.all(bound(sql, params)).await?;
        Ok(rows.iter().map(values).collect::<Result<_, _>>()?)
    }

    async fn execute(&mut self, sql: &str, params: Vec<Value>) -> Result<u64, Fault> {
        self.run(bound(sql, params)).await
    }
}

impl LedgerSession for Link {
    // The lock of a writer, so that a file which is locked or read-only shows itself. Nothing is written: the ledger may be another
    // cluster's.
    const INSPECTS_BY: TxMode = TxMode::Write;
    const STATEMENTS: &'static Statements = &STATEMENTS;

    fn text(text: &str) -> Value {
        text.into()
    }

    fn speaks_by(&self, token: &str) -> Incarnation {
        self.as_token(token)
    }

    /// The transaction itself holds the file.
    async fn hold(&mut self, _hold: Hold) -> Result<(String, u64), Fault> {
        let (token,): (String,) = self.only(query_as("SELECT token FROM meta")).await?;
        Ok((token, self.wall_ms()))
    }

    async fn facts(&mut self) -> Result<SqlFacts, Fault> {
        let (version,): (String,) = self.only(query_as("SELECT sqlite_version()")).await?;
        let durability = self.durability().clone();
        Ok(SqlFacts { durability, engine: format!("SQLite {version}"), other_master: None })
    }

    async fn examine(&mut self, _facts: &SqlFacts) -> Result<Vec<Fact>, Fault> {
        disk::facts(self).await
    }
}

/// The statements are ours; what is given to them is bound.
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
