//! Statements of the ledger's on a connection to a schema.

use sequent_core::{ErrorKind, Fact, Incarnation};
use sqlx::{
    AssertSqlSafe, Column, Postgres, Row, TypeInfo,
    postgres::{PgArguments, PgColumn, PgRow, types::Oid},
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
        Ok(values(&rows)?)
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

/// What a column of ours holds.
#[derive(Clone, Copy)]
enum Holds {
    Int,
    /// Nothing of ours, which is an error.
    Other,
    Small,
    Flag,
    Bytes,
    Text,
}

impl Holds {
    fn of(column: &PgColumn) -> Self {
        match column.type_info().name() {
            "INT4" => Self::Small,
            "BOOL" => Self::Flag,
            "BYTEA" => Self::Bytes,
            "TEXT" => Self::Text,
            "INT8" => Self::Int,
            _ => Self::Other,
        }
    }
}

/// Columns of one statement hold the same in each row, which is looked at once.
fn values(rows: &[PgRow]) -> Result<Vec<SqlRow>, sqlx::Error> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let columns: Vec<Holds> = first.columns().iter().map(Holds::of).collect();
    let row = |row: &PgRow| {
        let values = columns.iter().enumerate().map(|(at, holds)| value(row, at, *holds));
        Ok(SqlRow::new(values.collect::<Result<_, sqlx::Error>>()?))
    };
    rows.iter().map(row).collect()
}

fn value(row: &PgRow, at: usize, holds: Holds) -> Result<Value, sqlx::Error> {
    let found = match holds {
        Holds::Int => row.try_get_unchecked::<Option<i64>, _>(at)?.map(Value::Int),
        Holds::Other => row.try_get::<Option<i64>, _>(at)?.map(Value::Int),
        Holds::Small => row.try_get_unchecked::<Option<i32>, _>(at)?.map(|number| Value::Int(number.into())),
        Holds::Flag => row.try_get_unchecked::<Option<bool>, _>(at)?.map(|is| Value::Int(is.into())),
        Holds::Bytes => row.try_get_unchecked::<Option<Vec<u8>>, _>(at)?.map(Value::Bytes),
        Holds::Text => row.try_get_unchecked::<Option<String>, _>(at)?.map(Value::Text),
    };
    Ok(found.unwrap_or(Value::Null))
}
