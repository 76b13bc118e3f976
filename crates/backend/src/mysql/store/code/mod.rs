//! `mysql-auto-increment`: a table a key, whose `AUTO_INCREMENT` counts.
//!
//! The table `<owner>_code_<suffix>` counts; a row of `sequent_cells` is its fence, and the code row with `id = cells.v`,
//! written at install, its anchor. A take inserts rows whose first value is read through fence and anchor: where the life
//! has ended, or the table was truncated, it is NULL, and the server refuses the whole statement.

mod fence;
mod purge;
mod table;
mod take;

use sequent_core::{Block, Cell, Key, Life, SourceError};

use self::{
    fence::{Close, Install, Lift},
    purge::Due,
    table::{Code, Tables},
    take::Take,
};
use super::cells::found;
use crate::{
    cas::regressed,
    mysql::{
        fault::{ER_NO_SUCH_TABLE, Fault},
        link::Link,
        pool::Pool,
    },
};

/// Ids up to here are far from the end of the range.
const FAR: u64 = 1 << 62;

/// The tables of one store, and which of them are to be purged.
pub(super) struct Codes {
    tables: Tables,
    due: Due,
}

impl Codes {
    pub(super) fn new(suffix: &str, create: bool) -> Result<Self, SourceError> {
        Ok(Self { tables: Tables::new(suffix, create)?, due: Due::default() })
    }

    /// Refuses a key that no table can be named after; what a server folds it knows alone.
    pub(super) fn holds(&self, key: &Key) -> Result<(), SourceError> {
        self.tables.name(key, false).map(drop)
    }

    /// The highest id in the table of a key; `None` where the table, or its anchor, is gone.
    pub(super) async fn highest(
        &self,
        link: &mut Link,
        key: &Key,
        anchor: u64,
    ) -> Result<Option<u64>, Fault> {
        let code = self.tables.of(link, key)?;
        let sql = format!(
            "SELECT (SELECT MAX(m.id) FROM {table} m) FROM {table} a WHERE a.id = ?",
            table = code.sql()
        );
        match link.row::<(u64,)>(&sql, (anchor,)).await {
            Err(fault) if fault.is(ER_NO_SUCH_TABLE) => Ok(None),
            found => Ok(found?.map(|(highest,)| highest)),
        }
    }

    /// How far a key is, whether its table has its anchor or not: no less than the row says.
    pub(super) async fn told(&self, link: &mut Link, key: &Key, row: u64) -> Result<u64, Fault> {
        let code = self.tables.of(link, key)?;
        let sql = format!("SELECT COALESCE(MAX(id), 0) FROM {}", code.sql());
        match link.only::<(u64,)>(&sql, ()).await {
            Ok((highest,)) => Ok(highest.max(row)),
            Err(fault) if fault.is(ER_NO_SUCH_TABLE) => Ok(row),
            Err(fault) => Err(fault),
        }
    }

    pub(super) async fn take(
        &self,
        pool: &Pool,
        cell: Cell<'_>,
        life: Life,
        want: u64,
    ) -> Result<Block, SourceError> {
        let (again, purge_below) = (self.due.again(cell.key, want), self.due.take(cell.key));
        let take = Take { cell, life, want, tables: &self.tables, purge_below, again };
        let block = pool.perform(take).await?;
        self.due.note(cell.key, block);
        Ok(block)
    }

    pub(super) async fn close(&self, pool: &Pool, cell: Cell<'_>, next: Life) -> Result<u64, SourceError> {
        pool.perform(Close { cell, next, tables: &self.tables }).await
    }

    pub(super) async fn install(
        &self,
        pool: &Pool,
        cell: Cell<'_>,
        life: Life,
        base: u64,
    ) -> Result<(), SourceError> {
        pool.perform(Install { cell, life, base, tables: &self.tables }).await
    }

    pub(super) async fn lift(
        &self,
        pool: &Pool,
        cell: Cell<'_>,
        life: Life,
        floor: u64,
    ) -> Result<u64, SourceError> {
        pool.perform(Lift { cell, life, floor, tables: &self.tables }).await
    }
}

/// A verb was refused: what was found instead.
async fn refuse(link: &mut Link, cell: &Cell<'_>, life: Life, code: &Code) -> Result<Fault, Fault> {
    let state = found(link, cell).await?;
    if state.is_some_and(|state| state.open && state.life == life) {
        let error = regressed(cell.key, life, None);
        return Ok(error
            .during(format!("table {} has lost its anchor: was it truncated or dropped?", code.name()))
            .into());
    }
    Ok(regressed(cell.key, life, state).into())
}
