//! The tables that a store or a ledger needs, and making them.

use sequent_core::Condition;

use super::{connection::Connection, server::MysqlServer};
use crate::{
    net::{Cause, Fault, token},
    sql::{SqlRow, SqlSession},
};

/// The tables of a store or of a ledger.
#[derive(Debug)]
pub(super) struct Tables {
    /// For people: `store` or `ledger`.
    pub(super) kind: &'static str,
    /// The tables by name, with the statement that makes each.
    pub(super) all: &'static [(&'static str, &'static str)],
    /// The table whose time of making belongs to the instance.
    pub(super) anchor: &'static str,
    /// How a store's ids are counted, noted by whoever makes the tables: two ways in one database would each give the same ids.
    pub(super) way: Option<&'static str>,
    /// The row that is there from the start.
    pub(super) first_row: FirstRow,
    /// Whether ids come from `AUTO_INCREMENT`.
    pub(super) auto_increment: bool,
    /// Whether operations hold locks over several statements.
    pub(super) transactions: bool,
    /// Session settings besides the common ones, `, name = value` each.
    pub(super) session: &'static str,
}

/// A row that is made with the tables, if nothing else is there.
#[derive(Debug)]
pub(super) struct FirstRow {
    /// Its table.
    pub(super) table: &'static str,
    /// Makes it, unless it is there.
    pub(super) sql: &'static str,
    /// How many random tokens the statement is given.
    pub(super) tokens: usize,
}

/// The table in memory that is empty after each start of the server.
pub(super) const BOOT: (&str, &str) = (
    "sequent_boot",
    "CREATE TABLE IF NOT EXISTS sequent_boot (
        one TINYINT NOT NULL PRIMARY KEY,
        token CHAR(32) CHARACTER SET ascii NOT NULL
    ) ENGINE = MEMORY",
);

/// What to do where tables are missing. A process makes them once, where it has not connected before.
const MAKE_THEM: &str = "restore them; where there is nothing to restore, a `sequent serve` that is started anew makes them, \
    and a slot that is out for this is then brought back by `sequent rescue SLOT --why TEXT`";

/// A table as the server describes it.
struct Described {
    name: String,
    engine: Option<String>,
    made: Option<String>,
}

/// Sees to it that all tables are there, making missing ones if `create`; returns when the anchor was made.
pub(super) async fn settle(
    connection: &mut Connection,
    server: &MysqlServer,
    create: bool,
) -> Result<String, Fault> {
    let tables = server.tables;
    let found = describe(connection).await?;
    if let Some(made) = check(tables, &found)? {
        if create {
            // Whoever makes the tables may not have come to the row yet.
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
    let FirstRow { table, sql, tokens } = server.tables.first_row;
    // A look waits for nobody; the insertion would wait for whoever holds the row.
    if connection.row(&format!("SELECT 1 FROM {table} LIMIT 1"), Vec::new()).await?.is_none() {
        let tokens = (0..tokens).map(|_| token(&server.options.env).as_str().into()).collect();
        connection.exec(sql, tokens).await?;
    }
    Ok(())
}

/// When the anchor was made, if all tables are there; refused if one would lose what it was told.
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
    let sql = "SELECT table_name, engine, CAST(create_time AS CHAR) FROM information_schema.tables \
        WHERE table_schema = DATABASE() AND table_name LIKE 'sequent\\_%'";
    let described = |mut row: SqlRow| {
        Ok(Described { name: row.text()?, engine: row.maybe_text()?, made: row.maybe_text()? })
    };
    connection.rows(sql, Vec::new()).await?.into_iter().map(described).collect()
}

/// When the anchor was made, as it is now; `None` where it is gone.
pub(super) async fn made(connection: &mut Connection) -> Result<Option<String>, Fault> {
    check(connection.tables(), &describe(connection).await?)
}

/// A name as it stands in a statement.
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
