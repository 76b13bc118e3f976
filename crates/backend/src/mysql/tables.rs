//! Tables of MySQL stores and ledgers, and their creation.

use sequent_core::Condition;

use super::{connection::Connection, privileges::Needed, server::MysqlServer};
use crate::{
    net::{Cause, Fault, token},
    sql::{SqlRow, SqlSession},
};

/// The tables of a store or of a ledger.
#[derive(Debug)]
pub(super) struct Tables {
    /// `store` or `ledger`, for operators.
    pub(super) kind: &'static str,
    /// The tables by name, with the statement that creates each.
    pub(super) all: &'static [(&'static str, &'static str)],
    /// The table whose creation time is part of the instance.
    pub(super) anchor: &'static str,
    /// The way of counting, noted when the tables are created. Two ways in one database would give the same ids twice.
    pub(super) way: Option<&'static str>,
    /// The row created with the tables.
    pub(super) first_row: FirstRow,
    /// Whether ids come from `AUTO_INCREMENT`.
    pub(super) auto_increment: bool,
    /// Whether operations hold locks over several statements.
    pub(super) transactions: bool,
    /// Session settings besides the common ones, `, name = value` each.
    pub(super) session: &'static str,
    /// The privileges that a user needs on its database.
    pub(super) needed: Needed,
}

/// A row created with the tables, if its table is empty.
#[derive(Debug)]
pub(super) struct FirstRow {
    /// Its table.
    pub(super) table: &'static str,
    /// Creates it, unless it exists: `(way)` of a store, `(id, token)` of a ledger.
    pub(super) sql: &'static str,
}

/// A table in memory, which each start of the server empties.
pub(super) const BOOT: (&str, &str) = (
    "sequent_boot",
    "CREATE TABLE IF NOT EXISTS sequent_boot (
        one TINYINT NOT NULL PRIMARY KEY,
        token CHAR(32) CHARACTER SET ascii NOT NULL
    ) ENGINE = MEMORY",
);

/// Advice if tables are missing. A process creates them only if it has not connected before.
const MAKE_THEM: &str = "restore them; where there is nothing to restore, a `sequent serve` that is started anew makes them, \
    and a slot that is out for this is then brought back by `sequent rescue SLOT --why TEXT`";

/// A table as the server describes it.
struct Described {
    name: String,
    engine: Option<String>,
    made: Option<String>,
}

/// Checks that all tables exist, and creates missing ones if `create`; returns the anchor's creation time.
pub(super) async fn settle(
    connection: &mut Connection,
    server: &MysqlServer,
    create: bool,
) -> Result<String, Fault> {
    let tables = server.tables;
    let found = describe(connection).await?;
    if let Some(made) = check(tables, &found)? {
        if create {
            // The client that created the tables may not have inserted the row yet.
            make_first_row(connection, server).await?;
        }
        return Ok(made);
    }
    if !create {
        let is_missing = |name: &&str| !found.iter().any(|table| table.name == **name);
        let names: Vec<&str> = tables.all.iter().map(|(name, _)| *name).filter(is_missing).collect();
        let text = format!(
            "tables {} of a {} are missing, and none may be made here: {MAKE_THEM}",
            names.join(", "),
            tables.kind
        );
        return Err(Fault::refused(Cause::from(text).with(Condition::NeverMade)));
    }
    for (_, make) in tables.all {
        connection.text(make).await?;
    }
    make_first_row(connection, server).await?;
    made(connection).await?.ok_or_else(|| Fault::refused("the tables that were made are not there"))
}

async fn make_first_row(connection: &mut Connection, server: &MysqlServer) -> Result<(), Fault> {
    let FirstRow { table, sql } = server.tables.first_row;
    // A read waits for no lock, but the insertion would.
    if connection.row(&format!("SELECT 1 FROM {table} LIMIT 1"), Vec::new()).await?.is_none() {
        let token = || token(&server.options.env).as_str().into();
        let params = server.tables.way.map_or_else(|| vec![token(), token()], |way| vec![way.into()]);
        connection.exec(sql, params).await?;
    }
    Ok(())
}

/// The anchor's creation time, if all tables exist. Fails if a table's engine would lose data.
fn check(tables: &Tables, found: &[Described]) -> Result<Option<String>, Fault> {
    let mut anchor = None;
    for (name, _) in tables.all {
        let Some(table) = found.iter().find(|table| table.name == *name) else { return Ok(None) };
        let expected = if *name == BOOT.0 { "MEMORY" } else { "InnoDB" };
        let engine = table.engine.as_deref().unwrap_or("none");
        if !engine.eq_ignore_ascii_case(expected) {
            return Err(Fault::refused(format!("table {name} is of engine {engine}, expected {expected}")));
        }
        if *name == tables.anchor {
            anchor.clone_from(&table.made);
        }
    }
    Ok(Some(anchor.unwrap_or_default()))
}

async fn describe(connection: &mut Connection) -> Result<Vec<Described>, Fault> {
    // A server opens every table of the database for any condition but an equal name.
    let one = |(name, _): &(&str, &str)| {
        format!(
            "SELECT table_name, engine, CAST(create_time AS CHAR) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = '{name}'"
        )
    };
    let sql = connection.tables.all.iter().map(one).collect::<Vec<_>>().join(" UNION ALL ");
    let described = |mut row: SqlRow| {
        Ok(Described { name: row.text()?, engine: row.maybe_text()?, made: row.maybe_text()? })
    };
    connection.rows(&sql, Vec::new()).await?.into_iter().map(described).collect()
}

/// The anchor's current creation time; `None` if it is missing.
pub(super) async fn made(connection: &mut Connection) -> Result<Option<String>, Fault> {
    check(connection.tables, &describe(connection).await?)
}

/// A name quoted for SQL.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_quoted() {
        assert_eq!(super::quoted("a`b"), "`a``b`");
    }
}
