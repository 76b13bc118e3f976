//! PostgreSQL schema of a store or ledger, whose tables appear complete or not at all.

use super::{connection::Connection, server::PostgresServer};
use crate::{
    net::{Fault, token},
    sql::SqlSession,
};

/// The tables of a store or of a ledger.
#[derive(Debug)]
pub(super) struct Tables {
    /// `store` or `ledger`, for operators and for the table `about`.
    pub(super) kind: &'static str,
    /// The default schema.
    pub(super) schema: &'static str,
    /// Their version.
    pub(super) version: i64,
    /// The statements that create them.
    pub(super) statements: &'static [&'static str],
    /// Inserts the first row, with the token `$1`.
    pub(super) first_row: &'static str,
    /// The table whose file is part of the instance. The file changes after a restore from a dump, or a TRUNCATE.
    pub(super) anchor: &'static str,
    /// The tables with the privileges that a role needs on each.
    pub(super) needed: &'static [(&'static str, &'static str)],
}

/// A name quoted for SQL.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The tables of every schema. `run` is unlogged: PostgreSQL empties such a table whenever it recovers from a crash,
/// even one of a single backend. An empty `run` therefore shows a recovery.
const COMMON: [&str; 2] = [
    "CREATE TABLE about (
        one integer PRIMARY KEY CHECK (one = 1),
        kind text NOT NULL,
        schema_version integer NOT NULL
    )",
    "CREATE UNLOGGED TABLE run (
        one integer PRIMARY KEY CHECK (one = 1),
        uuid text NOT NULL
    )",
];

/// The advisory lock by which creators of tables exclude each other within a database.
const MAKERS_LOCK: i64 = 0x7371_6e73;

/// Whether the tables exist. The query reads the catalog, because `to_regclass` may not see a schema created meanwhile.
pub(super) async fn exists(connection: &mut Connection, schema: &str) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relname = 'about')";
    Ok(connection.only(sql, vec![schema.into()]).await?.int()? != 0)
}

/// Creates the tables, unless another client has done so: in one transaction, all or none.
pub(super) async fn create(connection: &mut Connection, server: &PostgresServer) -> Result<(), Fault> {
    let (schema, tables) = (server.schema(), server.tables);
    connection.execute("BEGIN", Vec::new()).await?;
    connection.execute("SELECT pg_advisory_xact_lock($1)", vec![MAKERS_LOCK.into()]).await?;
    if !exists(connection, schema).await? {
        let there = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)";
        // CREATE … IF NOT EXISTS demands the privilege to create even if nothing is created.
        if connection.only(there, vec![schema.into()]).await?.int()? == 0 {
            connection.execute(&format!("CREATE SCHEMA {}", quoted(schema)), Vec::new()).await?;
        }
        for statement in COMMON.iter().chain(tables.statements) {
            connection.execute(statement, Vec::new()).await?;
        }
        let about = "INSERT INTO about (one, kind, schema_version) VALUES (1, $1, $2::bigint)";
        connection.execute(about, vec![tables.kind.into(), tables.version.into()]).await?;
        connection.execute(tables.first_row, vec![token(&server.options.env).as_str().into()]).await?;
    }
    connection.execute("COMMIT", Vec::new()).await?;
    Ok(())
}

/// Fails for tables of another kind or version.
pub(super) async fn check_kind(connection: &mut Connection) -> Result<(), Fault> {
    let tables = connection.tables;
    let mut row = connection.only("SELECT kind, schema_version FROM about", Vec::new()).await?;
    let (found, version) = (row.text()?, row.int()?);
    if found != tables.kind {
        return Err(Fault::refused(format!(
            "the schema is a {found}'s, expected a {}'s: give each shard, and the ledger, a schema of its own",
            tables.kind
        )));
    }
    if version != tables.version {
        return Err(Fault::refused(format!("schema version: found {version}, expected {}", tables.version)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_quoted() {
        assert_eq!(super::quoted("a\"b; --"), "\"a\"\"b; --\"");
    }
}
