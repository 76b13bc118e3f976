//! The four verbs on cells, each one statement. They were raced on real files: no id twice in a life, and every close
//! covers every id given.

use sequent_core::{Block, Cell, ErrorKind, Life, SourceError};
use sqlx::{query, query_as};

use super::{check, stored};
use crate::sql::{TxMode, Work};
use crate::sqlite::{fault::Fault, link::Link};

/// How often a take is made that found its cell closed, and then open.
const TAKE_TRIES_MAX: u32 = 3;

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
        let (key, want) = (self.cell.key, self.want.max(1));
        let sql = "UPDATE cells SET v = v + ?1 \
            WHERE k = ?2 AND life = ?3 AND open = 1 AND v <= 9223372036854775807 - ?1 RETURNING v";
        let added = stored("count", key, want)?;
        for _ in 0..TAKE_TRIES_MAX {
            let query = query_as(sql).bind(added).bind(key.as_str()).bind(self.life.to_stored());
            if let Some((value,)) = link.row::<(i64,)>(query).await? {
                let block = Block::ending_at(value.unsigned_abs(), want);
                return block.map_err(|error| SourceError::exhausted(error).into());
            }
            if let Some(error) = self.refused(found(link, &self.cell).await?, added) {
                return Err(error.into());
            }
        }
        let context =
            format!("{key} in life {}: its cell was opened amid each of {TAKE_TRIES_MAX} takes", self.life);
        Err(SourceError::new(ErrorKind::Contended, context).into())
    }
}

impl Take<'_> {
    /// What a take that gave nothing is told, by what was found after it: nothing where the cell could have given, for another
    /// process has opened it meanwhile.
    fn refused(&self, found: Option<State>, added: i64) -> Option<SourceError> {
        let Self { cell, life, want } = self;
        match found {
            Some(state) if state.counts(*life) && state.value <= i64::MAX - added => None,
            Some(state) if state.counts(*life) => {
                let context = format!("{}: {want} more than {} is above {}", cell.key, state.value, i64::MAX);
                Some(SourceError::new(ErrorKind::Exhausted, context))
            }
            found => Some(regressed(cell, *life, found)),
        }
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
        let sql = "INSERT INTO cells (k, life, open, v) VALUES (?1, ?2, 0, 0) \
            ON CONFLICT (k) DO UPDATE SET life = excluded.life, open = 0 RETURNING v";
        let query = query_as(sql).bind(self.cell.key.as_str()).bind(self.next.to_stored());
        let (value,): (i64,) = link.only(query).await?;
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
        let sql = "UPDATE cells SET v = CASE WHEN open THEN v ELSE max(v, ?1) END, open = 1 \
            WHERE k = ?2 AND life = ?3 RETURNING v";
        let base = stored("base", self.cell.key, self.base)?;
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
            "SELECT max(v, ?1) FROM cells WHERE k = ?2 AND life = ?3 AND open = 1"
        } else {
            "UPDATE cells SET v = max(v, ?1) WHERE k = ?2 AND life = ?3 AND open = 1 RETURNING v"
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
        let gone = query("DELETE FROM cells WHERE k = ?1").bind(self.cell.key.as_str());
        Ok(link.run(gone).await? > 0)
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
    let query = query_as(sql).bind(value).bind(cell.key.as_str()).bind(life.to_stored());
    if let Some((held,)) = link.row::<(i64,)>(query).await? {
        return Ok(held.unsigned_abs());
    }
    let found = found(link, cell).await?;
    Err(regressed(cell, life, found).into())
}

/// What the file holds for a key, read after a refusal to say what was found.
#[derive(Clone, Copy)]
struct State {
    life: Life,
    open: bool,
    value: i64,
}

impl State {
    fn counts(self, life: Life) -> bool {
        self.open && self.life == life
    }
}

async fn found(link: &mut Link, cell: &Cell<'_>) -> Result<Option<State>, Fault> {
    let query = query_as("SELECT life, open, v FROM cells WHERE k = ?1").bind(cell.key.as_str());
    let row: Option<(i64, i64, i64)> = link.row(query).await?;
    Ok(row.map(|(life, open, value)| State { life: Life::from_stored(life), open: open == 1, value }))
}

fn regressed(cell: &Cell<'_>, life: Life, found: Option<State>) -> SourceError {
    let found = match found {
        None => "no cell".to_owned(),
        Some(state) if state.open => format!("a cell open for life {}", state.life),
        Some(state) => format!("a cell closed for life {}", state.life),
    };
    SourceError::new(ErrorKind::Regressed, format!("{} in life {life}: found {found}", cell.key))
}

#[cfg(test)]
mod tests {
    use sequent_core::{Incarnation, Key};

    use super::*;

    #[test]
    fn a_cell_that_was_opened_after_a_take_is_not_at_its_end() {
        let key = Key::of(&"order".parse().unwrap());
        let (under, life) = (Incarnation::new("a file"), Life::from_stored(7));
        let take = Take { cell: Cell { key: &key, under: &under }, life, want: 4 };
        let told =
            |life, open, value| take.refused(Some(State { life, open, value }), 4).map(|told| told.kind());
        assert_eq!(told(life, true, 1000), None, "it gives when it is asked again");
        assert_eq!(told(life, true, i64::MAX - 4), None);
        assert_eq!(told(life, true, i64::MAX - 3), Some(ErrorKind::Exhausted));
        assert_eq!(told(life, false, i64::MAX), Some(ErrorKind::Regressed));
        assert_eq!(told(Life::from_stored(8), true, 1000), Some(ErrorKind::Regressed));
        assert_eq!(take.refused(None, 4).map(|told| told.kind()), Some(ErrorKind::Regressed));
    }
}
