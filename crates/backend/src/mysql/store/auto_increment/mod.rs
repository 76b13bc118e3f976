//! `mysql-auto-increment` store: one table per key, whose `AUTO_INCREMENT` counts.
//!
//! The table, by default `<sequence>_code_<slot>`, counts. A row of `sequent_cells` is its fence. The row with
//! `id = cells.v`, written at install, is its anchor. A take inserts rows whose first time is read through fence and
//! anchor. If the epoch has ended, or the table was truncated, that is no time, and the server refuses the whole statement.
//!
//! A table has the columns `id` and `generate_time` alone, so that other programs may read it. With `adopt_tables` they
//! may have made it, and go on to insert: every id, theirs or ours, is the server's next `AUTO_INCREMENT`.

mod fence;
mod purge;
mod rules;
mod shape;
mod table;
mod take;

use sequent_core::{Block, Epoch, Fact, FactClass, Key, SlotIndex, SourceError};

use self::{
    purge::{Due, Purge},
    shape::of_table,
    table::{KeyTable, KeyTables},
    take::Take,
};
use super::{CELLS, ROWS, SHARD, facts};
use crate::{
    mysql::{
        connection::Connection,
        fault::ER_NO_SUCH_TABLE,
        privileges::Needed,
        server::MysqlServer,
        tables::{BOOT, FirstRow, Tables},
    },
    net::{Fault, KeepRows, Pool, ServerOptions},
    store::{
        CoreStore, regressed,
        sql::{Counting, SqlStore, cell},
    },
};

/// Ids up to this one are far from the end of the range.
const FAR: u64 = 1 << 62;

/// The time of a row.
const NOW: &str = "NOW(3)";

/// The tables of fences; the counters have tables of their own.
static FENCES: Tables = Tables {
    kind: ROWS.kind,
    all: &[SHARD, CELLS, BOOT],
    anchor: ROWS.anchor,
    way: Some("tables with AUTO_INCREMENT"),
    first_row: FirstRow {
        table: "sequent_shard",
        sql: "INSERT IGNORE INTO sequent_shard (one, way) VALUES (1, 'tables with AUTO_INCREMENT')",
        tokens: 0,
    },
    auto_increment: true,
    transactions: false,
    session: ", auto_increment_increment = 1, auto_increment_offset = 1",
};

/// `mysql-auto-increment`: a store in one MySQL or MariaDB database, with a table for each sequence, there or in another
/// database of the server. Ids are taken from the OK packet.
///
/// Use it if each id, or the newest ones, must have a row with its time, or if tables of another program are to count on.
/// Sequences with periods or partitions are refused; the error names a store that supports them.
pub type MysqlAutoIncrementStore = CoreStore<SqlStore<Pool<MysqlServer>, AutoIncrement>>;

impl MysqlAutoIncrementStore {
    /// The store in the options' database, with the tables of this slot.
    pub fn new(options: ServerOptions, slot: SlotIndex) -> Self {
        let tables = KeyTables::new(slot, options.create, options.code_tables.clone());
        let connections = Pool::new(MysqlServer { options, tables: &FENCES });
        Self(SqlStore { connections, counting: AutoIncrement { tables, due: Due::default() } })
    }
}

/// The tables of one store, and those due for a purge.
pub struct AutoIncrement {
    tables: KeyTables,
    due: Due,
}

impl Counting<Connection> for AutoIncrement {
    /// Fails for a key that can't name a table. Only the server knows whether it folds names.
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        self.tables.name(key, false).map(drop)
    }

    async fn take(
        &self,
        connection: &mut Connection,
        key: &Key,
        epoch: Epoch,
        want: u64,
    ) -> Result<Block, Fault> {
        let table = self.tables.of(connection, key)?;
        let (again, keep) = (self.due.again(key, want), self.tables.keep());
        if keep != KeepRows::All
            && let Some(below) = self.due.take(key)
        {
            Purge { table: &table, key, below, keep }.run(connection).await?;
        }
        let block = Take { key, epoch, want, table: &table, again }.run(connection).await?;
        self.due.note(key, block);
        Ok(block)
    }

    async fn close(&self, connection: &mut Connection, key: &Key, next: Epoch) -> Result<u64, Fault> {
        let table = self.tables.of(connection, key)?;
        fence::close(connection, key, next, &table).await
    }

    async fn install(
        &self,
        connection: &mut Connection,
        key: &Key,
        epoch: Epoch,
        base: u64,
    ) -> Result<(), Fault> {
        let table = self.tables.of(connection, key)?;
        fence::install(connection, key, epoch, base, &table).await
    }

    async fn lift(
        &self,
        connection: &mut Connection,
        key: &Key,
        epoch: Epoch,
        floor: u64,
    ) -> Result<u64, Fault> {
        let table = self.tables.of(connection, key)?;
        fence::lift(connection, key, epoch, floor, &table).await
    }

    /// This store has no keys with a period, so no key is ever deleted.
    async fn remove(&self, _connection: &mut Connection, _key: &Key) -> Result<bool, Fault> {
        Ok(false)
    }

    async fn reached(
        &self,
        connection: &mut Connection,
        key: &Key,
        value: u64,
    ) -> Result<Option<u64>, Fault> {
        let table = self.tables.of(connection, key)?;
        let sql = format!(
            "SELECT (SELECT MAX(m.id) FROM {table} m) FROM {table} a WHERE a.id = ?",
            table = table.sql()
        );
        match connection.row(&sql, vec![value.into()]).await {
            Err(fault) if fault.is(ER_NO_SUCH_TABLE) => Ok(None),
            Err(fault) => Err(of_table(key, &table, fault)),
            Ok(row) => Ok(row.map(|mut row| row.count()).transpose()?.map(|highest| highest.max(value))),
        }
    }

    async fn reached_at_least(
        &self,
        connection: &mut Connection,
        key: &Key,
        value: u64,
    ) -> Result<u64, Fault> {
        let table = self.tables.of(connection, key)?;
        match connection.only(&table.highest_of_all(), Vec::new()).await {
            Err(fault) if fault.is(ER_NO_SUCH_TABLE) => Ok(value),
            Err(fault) => Err(of_table(key, &table, fault)),
            Ok(mut row) => Ok(row.count()?.max(value)),
        }
    }

    async fn facts(&self, connection: &mut Connection) -> Result<Vec<Fact>, Fault> {
        let needed = match self.tables.keep() {
            KeepRows::All => {
                Needed { always: &["SELECT", "INSERT", "UPDATE"], at_times: &["CREATE", "DELETE"] }
            }
            _ => Needed { always: &["SELECT", "INSERT", "UPDATE", "DELETE"], at_times: &["CREATE"] },
        };
        let mut facts = facts(connection, &needed).await?;
        facts.extend(increments(connection));
        Ok(facts)
    }
}

/// The error of a refused call, from what the table holds now.
async fn regressed_table(
    connection: &mut Connection,
    key: &Key,
    epoch: Epoch,
    table: &KeyTable,
) -> Result<Fault, Fault> {
    let state = cell(connection, key).await?;
    if state.is_some_and(|state| state.counts_for(epoch)) {
        let lost = format!("table {} has lost its anchor: was it truncated or dropped?", table.name());
        return Ok(regressed(key, epoch, None).during(lost).into());
    }
    Ok(regressed(key, epoch, state).into())
}

/// Facts about settings under which `AUTO_INCREMENT` does not count by 1.
fn increments(connection: &Connection) -> Vec<Fact> {
    let fact = |name: &str| {
        let found = connection.settings().get(name);
        let fact = Fact::new(FactClass::Repeats, name, found)
            .expected("1")
            .causes("ids are left out, or another server of a ring gives those between; the kind refuses it");
        let fact = fact.mend(format!("SET GLOBAL {name} = 1, and in the server's option file"));
        (!matches!(found, "1" | "")).then_some(fact)
    };
    ["auto_increment_increment", "auto_increment_offset"].into_iter().filter_map(fact).collect()
}
