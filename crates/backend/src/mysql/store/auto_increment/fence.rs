//! The counter of a key, and its close, install and lift: first the fence, then the anchor, then the table.

use super::{NOW, constraints, ring_tables, shape, table::KeyTable};
use crate::{
    mysql::{
        connection::Connection,
        fault::{ER_DUP_ENTRY, ER_NO_SUCH_TABLE},
    },
    net::Fault,
    sql::{SqlSession, Value},
    store::{
        CellRef, Counting,
        sql::{InPlace, StoreSession, cell},
    },
};

/// What to do if a table does not keep a row as it was inserted.
const UNKEPT: &str =
    "drop the trigger that sets id, or the unique index, CHECK or foreign key that the row breaks";

/// The counter of a key: its cell, which is the fence, and its table.
pub(super) struct Counter<'a> {
    pub(super) cell: CellRef<'a>,
    pub(super) table: KeyTable<'a>,
}

impl Counter<'_> {
    pub(super) async fn close(&self, connection: &mut Connection) -> Result<u64, Fault> {
        let table = &self.table;
        // Waits for takes in flight, so the read of the table sees all ids that they gave.
        let anchor = InPlace.close(connection, self.cell).await?;
        ring_tables::check(connection, table, anchor == 0).await?;
        shape::settle(connection, table).await?;
        constraints::check(connection, table).await?;
        // Of a table that another program inserts into, too, this is a lower bound: the server gives no id twice.
        let row = connection.only(&table.highest_of_all(), Vec::new()).await;
        let highest = row.map_err(|fault| table.fault(fault))?.count()?;
        Ok(highest.max(anchor))
    }

    pub(super) async fn install(&self, connection: &mut Connection, base: u64) -> Result<(), Fault> {
        // The anchor is written first: a fence without an anchor counts as closed, even if its row is open.
        let sql = format!(
            "INSERT IGNORE INTO {} (id, generate_time) SELECT GREATEST(c.v, ?), {NOW} FROM sequent_cells c \
            WHERE c.k = ? AND c.epoch = ? AND c.open = 0 LOCK IN SHARE MODE",
            self.table.sql
        );
        self.insert(connection, &sql, base).await?;
        self.check_anchor(connection, base).await?;
        let params = self.with(base);
        match connection.change(Connection::STATEMENTS.install, params).await? {
            Some(_) => Ok(()),
            None => Err(self.regressed(connection).await),
        }
    }

    pub(super) async fn lift(&self, connection: &mut Connection, floor: u64) -> Result<u64, Fault> {
        let held = self.held(connection).await?;
        if held >= floor {
            return Ok(held);
        }
        let sql = format!(
            "INSERT IGNORE INTO {table} (id, generate_time) SELECT ?, {NOW} FROM sequent_cells c \
            JOIN {table} a ON a.id = c.v WHERE c.k = ? AND c.epoch = ? AND c.open = 1 LOCK IN SHARE MODE",
            table = self.table.sql
        );
        self.insert(connection, &sql, floor).await?;
        let held = self.held(connection).await?;
        if held >= floor {
            return Ok(held);
        }
        let why = format!("a row with id {floor} was inserted, and {held} is its highest id: {UNKEPT}");
        Err(self.table.unfit(why).into())
    }

    /// The highest id, if fence and anchor are valid.
    pub(super) async fn highest(&self, connection: &mut Connection) -> Result<Option<u64>, Fault> {
        match connection.row(&self.table.highest_of_epoch(), self.params()).await {
            Ok(row) => Ok(row.map(|mut row| row.count()).transpose()?),
            Err(fault) => Err(self.fault(connection, fault).await),
        }
    }

    async fn held(&self, connection: &mut Connection) -> Result<u64, Fault> {
        match self.highest(connection).await? {
            Some(highest) => Ok(highest),
            None => Err(self.regressed(connection).await),
        }
    }

    /// Inserts a row with an id. If the id exists, nothing is inserted.
    async fn insert(&self, connection: &mut Connection, sql: &str, id: u64) -> Result<(), Fault> {
        match connection.execute(sql, self.with(id)).await {
            Ok(_) => Ok(()),
            Err(Fault::Server(ER_DUP_ENTRY, _, cause)) => {
                Err(self.table.unfit(format_args!("a trigger of it fails: {cause}")).into())
            }
            Err(fault) => Err(self.fault(connection, fault).await),
        }
    }

    /// Fails if the anchor of a cell that is about to open is not in the table: `INSERT IGNORE` passes over most of what
    /// keeps it out. A cell of another epoch is told by the caller.
    async fn check_anchor(&self, connection: &mut Connection, base: u64) -> Result<(), Fault> {
        let table = &self.table;
        let sql = format!(
            "SELECT GREATEST(c.v, ?), a.id IS NOT NULL FROM sequent_cells c LEFT JOIN {} a ON a.id = GREATEST(c.v, ?) \
            WHERE c.k = ? AND c.epoch = ? AND c.open = 0",
            table.sql
        );
        let params = [vec![base.into()], self.with(base)].concat();
        let row = connection.row(&sql, params).await.map_err(|fault| table.fault(fault))?;
        let Some(mut row) = row else { return Ok(()) };
        let (id, is_there) = (row.count()?, row.int()? != 0);
        let why = || format!("the first row of an epoch, with id {id}, is not in it: {UNKEPT}");
        if is_there { Ok(()) } else { Err(table.unfit(why()).into()) }
    }

    /// The parameters of the fence: key and epoch.
    pub(super) fn params(&self) -> Vec<Value> {
        vec![self.cell.key.as_str().into(), self.cell.epoch.to_stored().into()]
    }

    /// A number, and the parameters of the fence.
    fn with(&self, number: u64) -> Vec<Value> {
        [vec![number.into()], self.params()].concat()
    }

    /// The fault of a statement on the table.
    pub(super) async fn fault(&self, connection: &mut Connection, fault: Fault) -> Fault {
        match fault {
            Fault::Server(ER_NO_SUCH_TABLE, _, cause) => self.missing_table(connection, &cause).await,
            fault => self.table.fault(fault),
        }
    }

    /// The fault of a refused call, from what the fence holds now.
    pub(super) async fn regressed(&self, connection: &mut Connection) -> Fault {
        match cell(connection, self.cell.key).await {
            Ok(state) if self.cell.counts(state) => {
                let name = self.table.name();
                let lost = format!("table {name} has lost its anchor: was it truncated or dropped?");
                self.cell.regressed(None).during(lost).into()
            }
            Ok(state) => self.cell.regressed(state).into(),
            Err(fault) => fault,
        }
    }
}
