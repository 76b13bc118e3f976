//! The four verbs on cells, each one statement. They were raced on a real server: no id twice in a life, and every close
//! covers every id given.
//!
//! Each compares the file of its table with the one that its connection was opened on, and returns the process that
//! ran it: see the [module](crate::postgres).

use sequent_core::{Block, Cell, ErrorKind, Life, SourceError};
use sqlx::{postgres::types::Oid, query_as};

use super::{check, stored};
use crate::postgres::{fault::Fault, link::Link};
use crate::sql::{TxMode, Work};

pub(super) struct Take<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) want: u64,
}

impl Work<Link> for Take<'_> {
    type Out = Block;
    const VERB: &'static str = "take from";
    const MODE: TxMode = TxMode::Single;

    async fn run(&self, link: &mut Link) -> Result<Block, Fault> {
        check(link, self.cell.under)?;
        let want = self.want.max(1);
        let added = stored("count", self.cell.key, want)?;
        // Past the range the sum is error 22003, which is `Exhausted`.
        let sql = "UPDATE cells SET v = v + $1 \
            WHERE k = $2 AND life = $3 AND open AND pg_relation_filenode(tableoid) = $4 \
            RETURNING v, pg_backend_pid()";
        let value = settle(link, &self.cell, self.life, sql, added).await?;
        Block::ending_at(value, want).map_err(|error| SourceError::exhausted(error).into())
    }
}

pub(super) struct Close<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) next: Life,
}

impl Work<Link> for Close<'_> {
    type Out = u64;
    const VERB: &'static str = "close a cell of";
    const MODE: TxMode = TxMode::Single;

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        check(link, self.cell.under)?;
        let sql = "INSERT INTO cells (k, life, open, v) \
            SELECT $1, $2, false, 0 WHERE pg_relation_filenode('cells'::regclass) = $3 \
            ON CONFLICT (k) DO UPDATE SET life = excluded.life, open = false RETURNING v, pg_backend_pid()";
        let query = query_as(sql).bind(self.cell.key.as_str().as_bytes()).bind(self.next.to_stored());
        let file = link.file();
        let Some((value, pid)) = link.session().row::<(i64, i32)>(query.bind(file)).await? else {
            return Err(Fault::stale("the tables' file is another one now"));
        };
        link.session().same(pid)?;
        // Below zero only by hand, and then no id was given that it would have to cover.
        Ok(u64::try_from(value).unwrap_or(0))
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

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        check(link, self.cell.under)?;
        let base = stored("base", self.cell.key, self.base)?;
        let sql = "UPDATE cells SET v = CASE WHEN open THEN v ELSE GREATEST(v, $1) END, open = true \
            WHERE k = $2 AND life = $3 AND pg_relation_filenode(tableoid) = $4 \
            RETURNING v, pg_backend_pid()";
        settle(link, &self.cell, self.life, sql, base).await.map(drop)
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

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        check(link, self.cell.under)?;
        let floor = stored("floor", self.cell.key, self.floor)?;
        let sql = if floor == 0 {
            "SELECT GREATEST(v, $1), pg_backend_pid() FROM cells \
                WHERE k = $2 AND life = $3 AND open AND pg_relation_filenode(tableoid) = $4"
        } else {
            "UPDATE cells SET v = GREATEST(v, $1) \
                WHERE k = $2 AND life = $3 AND open AND pg_relation_filenode(tableoid) = $4 \
                RETURNING v, pg_backend_pid()"
        };
        settle(link, &self.cell, self.life, sql, floor).await
    }
}

pub(super) struct Remove<'a> {
    pub(super) cell: Cell<'a>,
}

impl Work<Link> for Remove<'_> {
    type Out = bool;
    const VERB: &'static str = "remove a cell of";
    const MODE: TxMode = TxMode::Single;

    async fn run(&self, link: &mut Link) -> Result<bool, Fault> {
        check(link, self.cell.under)?;
        // Nothing else needs that right: who does not grant it keeps the cells.
        let right = query_as("SELECT has_table_privilege('cells'::regclass, 'DELETE')");
        let (may,): (bool,) = link.session().only(right).await?;
        if !may {
            return Ok(false);
        }
        let sql = "DELETE FROM cells WHERE k = $1 AND pg_relation_filenode(tableoid) = $2 \
            RETURNING v, pg_backend_pid()";
        let file = link.file();
        let gone = query_as(sql).bind(self.cell.key.as_str().as_bytes()).bind(file);
        let Some((_, pid)) = link.session().row::<(i64, i32)>(gone).await? else { return Ok(false) };
        link.session().same(pid)?;
        Ok(true)
    }
}

/// Runs a statement that touches the one cell of this life, or is refused; returns the value held afterwards.
async fn settle(
    link: &mut Link,
    cell: &Cell<'_>,
    life: Life,
    sql: &'static str,
    value: i64,
) -> Result<u64, Fault> {
    let file = link.file();
    let query = query_as(sql).bind(value).bind(cell.key.as_str().as_bytes()).bind(life.to_stored());
    let row = link.session().row::<(i64, i32)>(query.bind(file)).await;
    match row.map_err(|fault| named(fault, cell))? {
        Some((held, pid)) => {
            link.session().same(pid)?;
            Ok(u64::try_from(held).unwrap_or(0))
        }
        None => Err(refused(link, cell, life).await?),
    }
}

/// The server does not say which counter is at its end.
fn named(fault: Fault, cell: &Cell<'_>) -> Fault {
    match fault {
        Fault::Answer(error) => Fault::Answer(error.during(cell.key)),
        fault => fault,
    }
}

/// Says what was found instead: other tables, no cell, or one of another life.
async fn refused(link: &mut Link, cell: &Cell<'_>, life: Life) -> Result<Fault, Fault> {
    type Found = (Option<i64>, Option<bool>, Option<Oid>);
    let sql = "SELECT c.life, c.open, pg_relation_filenode('cells'::regclass) \
        FROM (VALUES (1)) AS one LEFT JOIN cells c ON c.k = $1";
    let query = query_as(sql).bind(cell.key.as_str().as_bytes());
    let (held, open, file): Found = link.session().only(query).await?;
    link.anchored(file)?;
    let found = match (held, open) {
        (Some(held), Some(true)) => format!("a cell open for life {}", Life::from_stored(held)),
        (Some(held), _) => format!("a cell closed for life {}", Life::from_stored(held)),
        (None, _) => "no cell".to_owned(),
    };
    let context = format!("{} in life {life}: found {found}", cell.key);
    Ok(SourceError::new(ErrorKind::Regressed, context).into())
}
