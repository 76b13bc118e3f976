//! `mysql-auto-increment` store: one table per key, whose `AUTO_INCREMENT` counts.
//!
//! The table, by default `<sequence>_code_<slot>`, counts. A row of `sequent_cells` is its fence. The row with
//! `id = cells.v`, written at install, is its anchor. A take inserts rows whose first time is read through fence and
//! anchor. If the epoch has ended, or the table was truncated, that is no time, and the server refuses the whole statement.
//!
//! A table has the columns `id` and `generate_time` alone, so that other programs may read it. With `adopt_tables` they
//! may have made it, and go on to insert: every id, theirs or ours, is the server's next `AUTO_INCREMENT`.

mod constraints;
mod fence;
mod last_block;
mod purge;
mod ring_tables;
mod shape;
mod table;
mod take;

use sequent_core::{Block, Fact, FactClass, Key, SlotIndex, SourceError};

use self::{fence::Counter, last_block::LastBlocks, table::KeyTables};
use super::ROWS;
use crate::{
    mysql::{
        connection::Connection, fault::ER_NO_SUCH_TABLE, privileges::Needed, server::MysqlServer,
        tables::Tables,
    },
    net::{Fault, KeepRows, Pool, ServerOptions},
    sql::SqlSession as _,
    store::{CellRef, CoreStore, Counting, sql::SqlCounting},
};

/// Ids up to this one are far from the end of the range.
const FAR: u64 = 1 << 62;

/// The time of a row.
const NOW: &str = "NOW(3)";

/// The tables of fences; the counters have tables of their own.
static FENCES: Tables = Tables {
    way: Some("tables with AUTO_INCREMENT"),
    auto_increment: true,
    session: ", auto_increment_increment = 1, auto_increment_offset = 1",
    ..ROWS
};

/// `mysql-auto-increment`: a store in one MySQL or MariaDB database, with a table for each sequence, there or in another
/// database of the server. Ids are taken from the OK packet.
///
/// Use it if each id, or the newest ones, must have a row with its time, or if tables of another program are to count on.
/// Sequences with periods or partitions are refused; the error names a store that supports them.
pub type MysqlAutoIncrementStore = CoreStore<Pool<MysqlServer>, AutoIncrement>;

impl MysqlAutoIncrementStore {
    /// The store in the options' database, with the tables of this slot.
    pub fn new(options: ServerOptions, slot: SlotIndex) -> Self {
        let tables = KeyTables::new(slot, &options);
        let pool = Pool::new(MysqlServer { options, tables: &FENCES });
        Self::on(pool, AutoIncrement { tables, last: LastBlocks::default() })
    }
}

/// The tables of one store, and the blocks that it gave last.
pub struct AutoIncrement {
    tables: KeyTables,
    last: LastBlocks,
}

impl AutoIncrement {
    fn counter<'a>(&'a self, connection: &Connection, cell: CellRef<'a>) -> Result<Counter<'a>, Fault> {
        Ok(Counter { cell, table: self.tables.of(connection, cell.key)? })
    }
}

/// This store has no keys with a period, so no key is ever removed.
impl Counting<Connection> for AutoIncrement {
    /// Fails for a key that can't name a table. Only the server knows whether it folds names.
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        self.tables.name(key, false).map(drop)
    }

    async fn take(&self, connection: &mut Connection, cell: CellRef<'_>, want: u64) -> Result<Block, Fault> {
        let (counter, key) = (self.counter(connection, cell)?, cell.key);
        let block = counter.take(connection, want, self.last.is_again(key, want)).await?;
        self.last.note(key, block);
        if purge::is_due(block) {
            counter.purge(connection, block.last(), self.tables.settings.keep).await?;
        }
        Ok(block)
    }

    async fn close(&self, connection: &mut Connection, cell: CellRef<'_>) -> Result<u64, Fault> {
        self.counter(connection, cell)?.close(connection).await
    }

    async fn install(&self, connection: &mut Connection, cell: CellRef<'_>, base: u64) -> Result<(), Fault> {
        self.counter(connection, cell)?.install(connection, base).await
    }

    async fn lift(&self, connection: &mut Connection, cell: CellRef<'_>, floor: u64) -> Result<u64, Fault> {
        self.counter(connection, cell)?.lift(connection, floor).await
    }
}

impl SqlCounting<Connection> for AutoIncrement {
    async fn reached(
        &self,
        connection: &mut Connection,
        key: &Key,
        value: u64,
    ) -> Result<(u64, bool), Fault> {
        let table = self.tables.of(connection, key)?;
        let sql = format!(
            "SELECT MAX(m.id), EXISTS (SELECT 1 FROM {table} a WHERE a.id = ?) FROM {table} m",
            table = table.sql
        );
        let read = match connection.only(&sql, vec![value.into()]).await {
            Err(fault) if fault.is(ER_NO_SUCH_TABLE) => return Ok((value, false)),
            Err(fault) => Err(table.fault(fault)),
            Ok(mut row) => {
                row.count().and_then(|highest| Ok((highest, row.int()? != 0))).map_err(Fault::from)
            }
        };
        // Without an anchor, it may be a table of another shape, or one of a ring of another shape.
        if !matches!(read, Ok((_, true))) {
            shape::check(connection, &table).await?;
            ring_tables::check(connection, &table, value == 0).await?;
        }
        let (highest, has_anchor) = read?;
        Ok((highest.max(value), has_anchor))
    }

    async fn facts(&self, connection: &mut Connection) -> Result<Vec<Fact>, Fault> {
        let needed = match self.tables.settings.keep {
            KeepRows::All => {
                Needed { always: &["SELECT", "INSERT", "UPDATE"], at_times: &["CREATE", "DELETE"] }
            }
            _ => Needed { always: &["SELECT", "INSERT", "UPDATE", "DELETE"], at_times: &["CREATE"] },
        };
        let mut facts = connection.facts_with(&needed).await?;
        facts.extend(increments(connection));
        Ok(facts)
    }
}

/// Facts about settings under which `AUTO_INCREMENT` does not count by 1.
fn increments(connection: &Connection) -> Vec<Fact> {
    let fact = |name: &str| {
        let found = connection.settings.get(name);
        let fact = Fact::new(FactClass::Repeats, name, found)
            .expected("1")
            .causes("ids are left out, or another server of a ring gives those between; the kind refuses it");
        let fact = fact.mend(format!("SET GLOBAL {name} = 1, and in the server's option file"));
        (!matches!(found, "1" | "")).then_some(fact)
    };
    ["auto_increment_increment", "auto_increment_offset"].into_iter().filter_map(fact).collect()
}
