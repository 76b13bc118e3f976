//! PostgreSQL store: cells in one schema.
//!
//! Each statement that counts compares its table's file with that of the connection's opening, and returns the backend
//! that ran it: see the [module](crate::postgres).

use super::{connection::Connection, schema::Tables, server::PostgresServer};
use crate::{
    net::{Fault, Pool, ServerOptions},
    sql::{Many, SqlRow, SqlSession, Value},
    store::{
        CoreStore,
        sql::{InPlace, StoreSession, StoreStatements},
    },
};

static TABLES: Tables = Tables {
    kind: "store",
    schema: "sequent_store",
    version: 1,
    statements: &[
        "CREATE TABLE shard (
            one integer PRIMARY KEY CHECK (one = 1),
            uuid text NOT NULL,
            stamp text,
            mark bigint NOT NULL DEFAULT 0
        )",
        // Keys are bytes, because no collation folds bytes, and a PostgreSQL text can't contain a zero byte. The fill
        // factor leaves space on each page, so that a row's next version needs no new index entry.
        "CREATE TABLE cells (
            k bytea PRIMARY KEY,
            epoch bigint NOT NULL,
            open boolean NOT NULL,
            v bigint NOT NULL
        ) WITH (fillfactor = 50)",
    ],
    first_row: "INSERT INTO shard (one, uuid) VALUES (1, $1)",
    anchor: "cells",
    needed: &[
        ("about", "SELECT"),
        ("run", "SELECT, INSERT"),
        ("shard", "SELECT, UPDATE"),
        ("cells", "SELECT, INSERT, UPDATE"),
    ],
};

/// A take past the range is error 22003, which becomes `Exhausted`.
static STATEMENTS: StoreStatements = StoreStatements {
    take: "UPDATE cells SET v = v + $1 WHERE k = $2 AND epoch = $3 AND open AND v >= 0 \
        AND pg_relation_filenode(tableoid)::bigint = $4 RETURNING v, pg_backend_pid()",
    close: "INSERT INTO cells (k, epoch, open, v) \
        SELECT $1, $2, false, 0 WHERE pg_relation_filenode('cells'::regclass)::bigint = $3 \
        ON CONFLICT (k) DO UPDATE SET epoch = excluded.epoch, open = false RETURNING v, pg_backend_pid()",
    install: "UPDATE cells SET v = CASE WHEN open THEN v ELSE GREATEST(v, $1) END, open = true \
        WHERE k = $2 AND epoch = $3 AND pg_relation_filenode(tableoid)::bigint = $4 RETURNING v, pg_backend_pid()",
    lift: "UPDATE cells SET v = GREATEST(v, $1) WHERE k = $2 AND epoch = $3 AND open \
        AND pg_relation_filenode(tableoid)::bigint = $4 RETURNING v, pg_backend_pid()",
    remove: "DELETE FROM cells WHERE k = $1",
    cell: "SELECT c.epoch, c.open, c.v, pg_relation_filenode('cells'::regclass)::bigint, pg_backend_pid() \
        FROM (VALUES (1)) AS one LEFT JOIN cells c ON c.k = $1",
    cells: Many::Columns("SELECT k, epoch, open, v FROM cells WHERE k = ANY($1::bytea[])"),
    page: "SELECT k, v FROM cells WHERE k > $1 ORDER BY k LIMIT $2",
    shard: "SELECT stamp, mark, EXISTS (SELECT 1 FROM cells), \
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint, \
        pg_relation_filenode('cells'::regclass)::bigint, pg_backend_pid() FROM shard",
    stamp: "UPDATE shard SET stamp = $1 WHERE stamp IS NOT DISTINCT FROM $2 \
        AND pg_relation_filenode('cells'::regclass)::bigint = $3 RETURNING 0::bigint, pg_backend_pid()",
    mark: "UPDATE shard SET mark = $1 WHERE mark < $1 \
        AND pg_relation_filenode('cells'::regclass)::bigint = $2 RETURNING mark, pg_backend_pid()",
};

/// A store in one schema of a PostgreSQL database, of kind `postgres-row`: one row per key. All handles to one schema,
/// in this process or another, count together.
///
/// The first call connects.
///
/// ```no_run
/// use sequent_backend::{net::ServerOptions, postgres::PostgresStore};
/// use sequent_core::{Cell, Key, Epoch, OsEntropy, Store};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let options = ServerOptions::from_url("postgres://seq@db.example/seq")?;
/// let options = ServerOptions { create: true, password_file: Some("/run/secrets/seq".into()), ..options };
/// let store = PostgresStore::new(options);
/// let instance = store.inspect().await?.instance;
/// let (key, epoch) = (Key::from_stored("order"), Epoch::random(&OsEntropy));
/// let cell = Cell { key: &key, under: &instance };
/// assert_eq!(store.close(cell, epoch).await?, 0);
/// store.install(cell, epoch, 100).await?;
/// assert_eq!(store.take(cell, epoch, 3).await?.to_string(), "101..=103");
/// store.disconnect().await;
/// # Ok(())
/// # }
/// ```
pub type PostgresStore = CoreStore<Pool<PostgresServer>, InPlace>;

impl PostgresStore {
    /// The store in the options' database and schema.
    pub fn new(options: ServerOptions) -> Self {
        Self::on(Pool::new(PostgresServer { options, tables: &TABLES }), InPlace)
    }
}

impl StoreSession for Connection {
    const STATEMENTS: &'static StoreStatements = &STATEMENTS;

    async fn change(&mut self, sql: &'static str, mut params: Vec<Value>) -> Result<Option<u64>, Fault> {
        params.push(self.file.into());
        let Some(mut row) = self.row(sql, params).await? else { return Ok(None) };
        let left = row.count()?;
        self.check_process(row.int()?)?;
        Ok(Some(left))
    }

    async fn read(&mut self, sql: &'static str, params: Vec<Value>) -> Result<Option<SqlRow>, Fault> {
        let mut row = self.only(sql, params).await?;
        self.check_origin(&mut row)?;
        Ok(Some(row))
    }
}
