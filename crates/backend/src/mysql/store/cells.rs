//! Close, install and lift, each one statement. They were raced on real servers: no id twice in a life, and every close
//! covers every id given.

use sequent_core::{Cell, Incarnation, Key, Life};

use super::stored;
use crate::sql::{TxMode, Work};
use crate::{
    cas::{State, regressed},
    mysql::{
        fault::{ER_TABLEACCESS_DENIED, Fault},
        link::Link,
    },
};

pub(super) struct Close<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) next: Life,
}

impl Work<Link> for Close<'_> {
    type Out = u64;
    const VERB: &'static str = "close a cell of";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        close_row(link, self.cell.key, self.next).await
    }
}

pub(super) struct Install<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) base: u64,
}

impl Work<Link> for Install<'_> {
    type Out = ();
    const VERB: &'static str = "install a cell of";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let base = stored("base", self.cell.key, self.base)?;
        // v before open: assignments run from left to right.
        let sql =
            "UPDATE sequent_cells SET v = IF(open, v, GREATEST(v, ?)), open = 1 WHERE k = ? AND life = ?";
        let done = link.exec(sql, (base, self.cell.key.as_str(), self.life.to_stored())).await?;
        if done.found == 1 { Ok(()) } else { Err(refuse(link, &self.cell, self.life).await?) }
    }
}

pub(super) struct Lift<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) floor: u64,
}

impl Work<Link> for Lift<'_> {
    type Out = u64;
    const VERB: &'static str = "lift a cell of";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let floor = stored("floor", self.cell.key, self.floor)?;
        if floor == 0 {
            return match found(link, &self.cell).await? {
                Some(state) if state.open && state.life == self.life => Ok(state.value),
                other => Err(regressed(self.cell.key, self.life, other).into()),
            };
        }
        let sql = "UPDATE sequent_cells SET v = LAST_INSERT_ID(GREATEST(v, ?)) WHERE k = ? AND life = ? AND open = 1";
        let done = link.exec(sql, (floor, self.cell.key.as_str(), self.life.to_stored())).await?;
        if done.found == 1 { Ok(done.id) } else { Err(refuse(link, &self.cell, self.life).await?) }
    }
}

pub(super) struct Remove<'a> {
    pub(super) cell: Cell<'a>,
}

impl Work<Link> for Remove<'_> {
    type Out = bool;
    const VERB: &'static str = "remove a cell of";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<bool, Fault> {
        match link.exec("DELETE FROM sequent_cells WHERE k = ?", (self.cell.key.as_str(),)).await {
            Ok(gone) => Ok(gone.found > 0),
            // Nothing else needs that right: who does not grant it keeps the cells.
            Err(fault) if fault.is(ER_TABLEACCESS_DENIED) => Ok(false),
            Err(fault) => Err(fault),
        }
    }
}

/// Closes the row of a key for the next life, writing it if need be; returns its value. Below zero it is only by hand, and
/// then no id was given that it would have to cover.
pub(super) async fn close_row(link: &mut Link, key: &Key, next: Life) -> Result<u64, Fault> {
    // A row that was not there bears no id: 0, as it should be. The count of rows says nothing here.
    let sql = "INSERT INTO sequent_cells (k, life, open, v) VALUES (?, ?, 0, 0) \
        ON DUPLICATE KEY UPDATE v = LAST_INSERT_ID(GREATEST(v, 0)), life = VALUES(life), open = 0";
    Ok(link.exec(sql, (key.as_str(), next.to_stored())).await?.id)
}

/// What the row of a key holds.
pub(super) async fn found(link: &mut Link, cell: &Cell<'_>) -> Result<Option<State>, Fault> {
    let sql = "SELECT life, open, v FROM sequent_cells WHERE k = ?";
    let row: Option<(i64, bool, i64)> = link.row(sql, (cell.key.as_str(),)).await?;
    Ok(row.map(|(life, open, value)| State {
        life: Life::from_stored(life),
        open,
        value: u64::try_from(value).unwrap_or(0),
    }))
}

/// A verb touched no row: what was found instead.
pub(super) async fn refuse(link: &mut Link, cell: &Cell<'_>, life: Life) -> Result<Fault, Fault> {
    let found = found(link, cell).await?;
    Ok(regressed(cell.key, life, found).into())
}
