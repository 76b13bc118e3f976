//! A look into a shard that changes nothing.

use sequent_core::{BoxFuture, CellPage, Examination, Examine, Key, Life, Sight, SourceError};
use sqlx::query_as;

use super::{SqliteStore, identity::Inspect};
use crate::sql::{TxMode, Work};
use crate::sqlite::{disk, fault::Fault, link::Link};

impl Examine for SqliteStore {
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>> {
        Box::pin(self.database.look(Look { keys }))
    }

    fn cells<'a>(&'a self, from: Option<&'a str>) -> BoxFuture<'a, Result<CellPage, SourceError>> {
        // On the connection in use: a process that recovers has one already.
        Box::pin(self.database.perform(Leaf { from }))
    }
}

/// How many cells are told of at once.
const CELLS_A_PAGE: u32 = 4096;

struct Leaf<'a> {
    from: Option<&'a str>,
}

impl Work<Link> for Leaf<'_> {
    type Out = CellPage;
    const VERB: &'static str = "read the cells of";
    const MODE: TxMode = TxMode::Read;

    async fn run(&self, link: &mut Link) -> Result<CellPage, Fault> {
        let sql = "SELECT k, v FROM cells WHERE ?1 IS NULL OR k > ?1 ORDER BY k LIMIT ?2";
        let found: Vec<(String, i64)> = link.rows(query_as(sql).bind(self.from).bind(CELLS_A_PAGE)).await?;
        let next = found.last().filter(|_| found.len() == CELLS_A_PAGE as usize).map(|(key, _)| key.clone());
        let cell = |(key, value): (String, i64)| (Key::from_stored(&key), u64::try_from(value).unwrap_or(0));
        Ok(CellPage { cells: found.into_iter().map(cell).collect(), next, is_partial: false })
    }
}

struct Look<'a> {
    keys: &'a [Key],
}

impl Work<Link> for Look<'_> {
    type Out = Examination;
    const VERB: &'static str = "examine";
    const MODE: TxMode = TxMode::Read;

    async fn run(&self, link: &mut Link) -> Result<Examination, Fault> {
        let inspection = Inspect.run(link).await?;
        let (mark,): (i64,) = link.only(query_as("SELECT mark FROM identity")).await?;
        let mut cells = Vec::with_capacity(self.keys.len());
        for key in self.keys {
            cells.push(sight(link, key).await?);
        }
        let facts = disk::facts(link).await?;
        Ok(Examination { inspection, mark: mark.unsigned_abs(), cells, facts })
    }
}

async fn sight(link: &mut Link, key: &Key) -> Result<Sight, Fault> {
    let query = query_as("SELECT life, open, v FROM cells WHERE k = ?1").bind(key.as_str());
    let found: Option<(i64, bool, i64)> = link.row(query).await?;
    Ok(match found {
        None => Sight::Missing,
        Some((life, open, value)) => match u64::try_from(value) {
            Ok(value) => Sight::Held { life: Life::from_stored(life), open, value, expires_ms: None },
            Err(_) => Sight::Odd(value.to_string()),
        },
    })
}
