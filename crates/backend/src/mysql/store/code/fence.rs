//! Close, install and lift of a key that has a table: the fence, the anchor, and then the table.

use sequent_core::{Cell, ErrorKind, Incarnation, Life};

use super::{
    refuse,
    table::{Code, Tables},
};
use crate::mysql::{
    fault::{ER_NO_SUCH_TABLE, Fault},
    link::Link,
    store::{cells::close_row, stored},
};
use crate::sql::{TxMode, Work};

pub(super) struct Close<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) next: Life,
    pub(super) tables: &'a Tables,
}

impl Work<Link> for Close<'_> {
    type Out = u64;
    const VERB: &'static str = "close a cell of";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let code = self.tables.of(link, self.cell.key)?;
        // Waits for the takes in flight; the statement after it sees all that they gave.
        let anchor = close_row(link, self.cell.key, self.next).await?;
        let sql = format!("SELECT COALESCE(MAX(id), 0) FROM {}", code.sql());
        match link.only::<(u64,)>(&sql, ()).await {
            Ok((highest,)) => Ok(highest.max(anchor)),
            Err(fault) if fault.is(ER_NO_SUCH_TABLE) => {
                code.make(link).await?;
                Ok(anchor)
            }
            Err(fault) => Err(fault),
        }
    }
}

pub(super) struct Install<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) base: u64,
    pub(super) tables: &'a Tables,
}

impl Work<Link> for Install<'_> {
    type Out = ();
    const VERB: &'static str = "install a cell of";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let code = self.tables.of(link, self.cell.key)?;
        let (key, life) = (self.cell.key.as_str(), self.life.to_stored());
        let base = stored("base", self.cell.key, self.base)?;
        // The anchor first: an open fence without one is shut.
        let sql = format!(
            "INSERT IGNORE INTO {} (id, f) SELECT GREATEST(c.v, ?), 1 FROM sequent_cells c \
            WHERE c.k = ? AND c.life = ? AND c.open = 0 LOCK IN SHARE MODE",
            code.sql()
        );
        match link.exec(&sql, (base, key, life)).await {
            Err(fault) if fault.is(ER_NO_SUCH_TABLE) => {
                return Err(refuse(link, &self.cell, self.life, &code).await?);
            }
            done => done?,
        };
        let sql =
            "UPDATE sequent_cells SET v = IF(open, v, GREATEST(v, ?)), open = 1 WHERE k = ? AND life = ?";
        let done = link.exec(sql, (base, key, life)).await?;
        if done.found == 1 { Ok(()) } else { Err(refuse(link, &self.cell, self.life, &code).await?) }
    }
}

pub(super) struct Lift<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) floor: u64,
    pub(super) tables: &'a Tables,
}

impl Work<Link> for Lift<'_> {
    type Out = u64;
    const VERB: &'static str = "lift a cell of";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let code = self.tables.of(link, self.cell.key)?;
        let floor = stored("floor", self.cell.key, self.floor)?;
        let held = self.held(link, &code).await?;
        if held >= self.floor {
            return Ok(held);
        }
        let sql = format!(
            "INSERT IGNORE INTO {table} (id, f) SELECT ?, 1 FROM sequent_cells c JOIN {table} a ON a.id = c.v \
            WHERE c.k = ? AND c.life = ? AND c.open = 1 LOCK IN SHARE MODE",
            table = code.sql()
        );
        link.exec(&sql, (floor, self.cell.key.as_str(), self.life.to_stored())).await?;
        let held = self.held(link, &code).await?;
        if held >= self.floor {
            return Ok(held);
        }
        let cause = format!("{}: {held} is held after a lift to {floor}", self.cell.key);
        Err(Fault::broken(ErrorKind::Unavailable, cause))
    }
}

impl Lift<'_> {
    /// The highest id, through fence and anchor.
    async fn held(&self, link: &mut Link, code: &Code) -> Result<u64, Fault> {
        let sql = format!(
            "SELECT (SELECT MAX(m.id) FROM {table} m) FROM sequent_cells c JOIN {table} a ON a.id = c.v \
            WHERE c.k = ? AND c.life = ? AND c.open = 1",
            table = code.sql()
        );
        match link.row::<(u64,)>(&sql, (self.cell.key.as_str(), self.life.to_stored())).await {
            Ok(Some((held,))) => Ok(held),
            Ok(None) => Err(refuse(link, &self.cell, self.life, code).await?),
            Err(fault) if fault.is(ER_NO_SUCH_TABLE) => Err(refuse(link, &self.cell, self.life, code).await?),
            Err(fault) => Err(fault),
        }
    }
}
