//! PostgreSQL session: login, checked settings, and statements.

use sequent_core::InstanceId;
use sqlx::{
    AssertSqlSafe, Column, ConnectOptions, Postgres, Row, TypeInfo,
    postgres::{PgArguments, PgColumn, PgRow},
    query::Query,
};

use super::{
    connection::Connection,
    fault::{PROXY, from_driver},
    schema::quoted,
    server::{PostgresServer, driver_options},
};
use crate::{
    net::{Fault, within},
    sql::{SqlRow, SqlSession, Value},
};

/// Settings of every session, whose values the server must confirm. They are sent as startup parameters: a proxy that
/// spreads statements over several connections refuses such parameters or drops them, which is detected.
///
/// - READ COMMITTED: the isolation level of the race tests.
/// - A lock wait is a little shorter than all tries of an operation, which are shorter than an attempt's limit. An
///   abandoned statement, or a transaction of a hanging process, ends by itself, and its locks with it.
pub(super) const SETTINGS: [(&str, &str); 5] = [
    ("default_transaction_isolation", "read committed"),
    ("synchronous_commit", "on"),
    ("lock_timeout", "700ms"),
    ("statement_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "2s"),
];

/// Interval at which the server checks, during a statement, whether its client is still connected. From PostgreSQL 14.
const CLIENT_CHECK: &str = "SET client_connection_check_interval = '1s'";

impl Connection {
    /// Connects and logs in within the time limit. A proxy that spreads statements over several connections is refused.
    /// A read-only server is unavailable, until it is promoted or replaced. The instance is yet to be read.
    pub(super) async fn log_in(server: &PostgresServer) -> Result<Self, Fault> {
        let options = driver_options(&server.options).await?;
        let limit = server.options.connect_timeout;
        let driver = within(limit, options.connect()).await?.map_err(from_driver)?;
        let tables = server.tables;
        let mut connection = Self { driver, tables, pid: 0, file: 0, instance: InstanceId::new("") };
        // An error is ignored: servers before 14 lack the setting, as do some platforms.
        let _ = connection.execute(CLIENT_CHECK, Vec::new()).await;
        connection.search_only(&quoted(server.schema())).await?;
        connection.check_settings().await?;
        Ok(connection)
    }

    /// Restricts the search path to the one schema, and checks that the server accepts writes.
    async fn search_only(&mut self, schema: &str) -> Result<(), Fault> {
        let sql = "SELECT pg_backend_pid(), pg_is_in_recovery(), current_setting('transaction_read_only'), \
            set_config('search_path', $1, false)";
        let mut row = self.only(sql, vec![schema.into()]).await?;
        self.pid = row.int()?;
        let (is_standby, read_only) = (row.int()? != 0, row.text()?);
        if is_standby {
            Err(Fault::away(
                "the server is a standby, which takes no writes: promote it, or connect to its primary",
            ))
        } else if read_only != "off" {
            Err(Fault::away("default_transaction_read_only is on, expected off: the server takes no writes"))
        } else {
            Ok(())
        }
    }

    /// Checks that the settings persist in another transaction, on the same backend.
    async fn check_settings(&mut self) -> Result<(), Fault> {
        for (name, found) in self.settings(&SETTINGS.map(|(name, _)| name)).await? {
            let expected = SETTINGS.iter().find(|(own, _)| *own == name).map_or("", |(_, value)| value);
            if found != expected {
                let cause = format!("{name}: found {found}, expected {expected} as set{PROXY}");
                return Err(Fault::refused(cause));
            }
        }
        let pid = self.only("SELECT pg_backend_pid()", Vec::new()).await?.int()?;
        self.check_process(pid)
    }

    /// The settings of these names, in the same order.
    pub(super) async fn settings(&mut self, names: &[&str]) -> Result<Vec<(String, String)>, Fault> {
        let sql = "SELECT name, current_setting(name) FROM unnest($1::text[]) WITH ORDINALITY AS a (name, at) \
            ORDER BY at";
        let rows = self.rows(sql, vec![texts(names.iter().copied())]).await?;
        rows.into_iter().map(|mut row| Ok((row.text()?, row.text()?))).collect()
    }

    /// Fails if the backend behind the connection has changed: the instance read before is no longer valid.
    pub(super) fn check_process(&self, pid: i64) -> Result<(), Fault> {
        if pid == self.pid {
            return Ok(());
        }
        Err(Fault::refused(format!("the server's process was {}, and is now {pid}{PROXY}", self.pid)))
    }
}

/// An array of texts.
pub(super) fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> Value {
    Value::Texts(texts.map(str::to_owned).collect())
}

/// The parameters of a prepared statement.
pub(super) fn bound(sql: &str, params: Vec<Value>) -> Query<'_, Postgres, PgArguments> {
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

/// The type of a column.
#[derive(Clone, Copy)]
enum Holds {
    Int,
    /// A type that none of our tables has, which is an error.
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

/// Column types are the same in each row of a statement, so they are determined once.
pub(super) fn values(rows: &[PgRow]) -> Result<Vec<SqlRow>, sqlx::Error> {
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
