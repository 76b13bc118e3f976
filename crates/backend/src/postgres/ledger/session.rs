//! Statements of the ledger's on a connection to a schema.

use sequent_core::{ErrorKind, Fact, Incarnation};
use sqlx::{
    AssertSqlSafe, Postgres, Row, TypeInfo, ValueRef,
    postgres::{PgArguments, PgRow, types::Oid},
    query::Query,
    query_as,
};

use super::{schema::KIND, statements::STATEMENTS};
use crate::{
    ledger::sql::{Hold, LedgerSession, SqlFacts, Statements},
    postgres::{
        fault::Fault,
        link::{Link, losses},
        rights::{self, Needed},
    },
    sql::{SqlRow, SqlSession, Value},
};

const NEEDED: &Needed = &[
    ("about", "SELECT"),
    ("run", "SELECT, INSERT"),
    ("history", "SELECT, INSERT"),
    ("definitions", "SELECT, INSERT"),
    ("meta", "SELECT, UPDATE"),
    ("layout", "SELECT, INSERT, UPDATE"),
    ("advances", "SELECT, INSERT, UPDATE"),
    ("dense", "SELECT, INSERT, UPDATE"),
    ("counters", "SELECT, INSERT, UPDATE, DELETE"),
    ("words", "SELECT, INSERT, UPDATE"),
    ("servers", "SELECT, INSERT, UPDATE, DELETE"),
    ("slots", "SELECT, INSERT, UPDATE, DELETE"),
];

/// Who speaks, where the tables are, on whose connection, and the server's clock.
const LOOK: &str = "SELECT token, pg_relation_filenode('counters'::regclass), pg_backend_pid(), \
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM meta";

/// The same, and other writers wait until this transaction has ended. The clock is read once the lock is held.
const LOCK: &str = "SELECT token, pg_relation_filenode('counters'::regclass), pg_backend_pid(), \
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM (SELECT token FROM meta FOR UPDATE) AS held";

/// The server's version, and the ledger's tables that a subscription of this database writes to: everybody may read that.
const FACTS: &str = "SELECT current_setting('server_version'), \
    (SELECT string_agg(srrelid::regclass::text, ', ') FROM pg_subscription_rel \
    WHERE srrelid IN ('meta'::regclass, 'dense'::regclass, 'counters'::regclass))";

impl SqlSession for Link {
    type Fault = Fault;

    fn broken(cause: String) -> Fault {
        Fault::broken(ErrorKind::Unavailable, cause)
    }

    fn refused(cause: String) -> Fault {
        Fault::broken(ErrorKind::Refused, cause)
    }

    async fn rows(&mut self, sql: &str, params: Vec<Value>) -> Result<Vec<SqlRow>, Fault> {
        let rows = self.session().all(bound(sql, params)).await?;
        Ok(rows.iter().map(values).collect::<Result<_, _>>()?)
    }

    async fn execute(&mut self, sql: &str, params: Vec<Value>) -> Result<u64, Fault> {
        self.session().run(bound(sql, params)).await
    }
}

impl LedgerSession for Link {
    const STATEMENTS: &'static Statements = &STATEMENTS;

    fn text(text: &str) -> Value {
        Value::Bytes(text.as_bytes().to_vec())
    }

    fn speaks_by(&self, token: &str) -> Incarnation {
        self.as_token(token)
    }

    async fn hold(&mut self, hold: Hold) -> Result<(String, u64), Fault> {
        let sql = if hold == Hold::Write { LOCK } else { LOOK };
        let (token, file, pid, now): (String, Option<Oid>, i32, i64) =
            self.session().only(query_as(sql)).await?;
        self.session().same(pid)?;
        self.anchored(file)?;
        Ok((token, u64::try_from(now).unwrap_or(0)))
    }

    async fn facts(&mut self) -> Result<SqlFacts, Fault> {
        let (version, subscribed): (String, Option<String>) = self.session().only(query_as(FACTS)).await?;
        Ok(SqlFacts {
            durability: self.attest(&KIND).await?,
            engine: format!("PostgreSQL {version}"),
            other_master: subscribed.map(|tables| format!("tables of a logical subscription: {tables}")),
        })
    }

    async fn examine(&mut self, facts: &SqlFacts) -> Result<Vec<Fact>, Fault> {
        let mut found = losses(&facts.durability.settings);
        found.extend(rights::facts(self, NEEDED).await?);
        Ok(found)
    }
}

/// The statements are ours; what is given to them is bound.
fn bound(sql: &str, params: Vec<Value>) -> Query<'_, Postgres, PgArguments> {
    let query = sqlx::query(AssertSqlSafe(sql));
    params.into_iter().fold(query, |query, value| match value {
        Value::Null => query.bind(None::<i64>),
        Value::NoText => query.bind(None::<String>),
        Value::Int(number) => query.bind(number),
        Value::Text(text) => query.bind(text),
        Value::Bytes(bytes) => query.bind(bytes),
        Value::Ints(column) => query.bind(column),
        Value::Texts(column) => query.bind(column),
        Value::ManyBytes(column) => query.bind(column),
    })
}

fn values(row: &PgRow) -> Result<SqlRow, sqlx::Error> {
    let value = |at| {
        let raw = row.try_get_raw(at)?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        match raw.type_info().name() {
            "INT4" => row.try_get::<i32, _>(at).map(|number| Value::Int(number.into())),
            "BOOL" => row.try_get::<bool, _>(at).map(|is| Value::Int(is.into())),
            "BYTEA" => row.try_get(at).map(Value::Bytes),
            "TEXT" => row.try_get(at).map(Value::Text),
            _ => row.try_get(at).map(Value::Int),
        }
    };
    Ok(SqlRow::new((0..row.len()).map(value).collect::<Result<_, _>>()?))
}
