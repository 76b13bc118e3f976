//! A look into a shard that changes nothing.

use std::collections::HashMap;

use sequent_core::{BoxFuture, CellPage, Examination, Examine, Key, Life, Sight, SourceError};
use sqlx::query_as;

use super::{PostgresStore, identity::Inspect};
use crate::postgres::{
    fault::Fault,
    link::{Link, losses},
    rights::{self, Needed},
};
use crate::sql::{TxMode, Work};

/// How many keys one statement asks for.
const KEYS_MAX: usize = 4096;

const NEEDED: &Needed = &[
    ("about", "SELECT"),
    ("run", "SELECT, INSERT"),
    ("shard", "SELECT, UPDATE"),
    ("cells", "SELECT, INSERT, UPDATE"),
];

impl Examine for PostgresStore {
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>> {
        Box::pin(self.database.look(Look { keys }))
    }

    fn cells<'a>(&'a self, from: Option<&'a str>) -> BoxFuture<'a, Result<CellPage, SourceError>> {
        Box::pin(self.database.look(Leaf { from }))
    }
}

/// How many cells are told of at once.
const CELLS_A_PAGE: usize = 4096;

struct Leaf<'a> {
    from: Option<&'a str>,
}

impl Work<Link> for Leaf<'_> {
    type Out = CellPage;
    const VERB: &'static str = "read the cells of";
    const MODE: TxMode = TxMode::Single;

    async fn run(&self, link: &mut Link) -> Result<CellPage, Fault> {
        let from = self.from.map(str::as_bytes);
        let sql = "SELECT k, v FROM cells WHERE $1::bytea IS NULL OR k > $1 ORDER BY k LIMIT $2";
        let query = query_as(sql).bind(from).bind(i64::try_from(CELLS_A_PAGE).unwrap_or(i64::MAX));
        let found: Vec<(Vec<u8>, i64)> = link.session().rows(query).await?;
        let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
        let next = found.last().filter(|_| found.len() == CELLS_A_PAGE).map(|(key, _)| text(key));
        let cell =
            |(key, value): (Vec<u8>, i64)| (Key::from_stored(&text(&key)), u64::try_from(value).unwrap_or(0));
        Ok(CellPage { cells: found.into_iter().map(cell).collect(), next, is_partial: false })
    }
}

struct Look<'a> {
    keys: &'a [Key],
}

impl Work<Link> for Look<'_> {
    type Out = Examination;
    const VERB: &'static str = "examine";
    const MODE: TxMode = TxMode::Single;

    async fn run(&self, link: &mut Link) -> Result<Examination, Fault> {
        let inspection = Inspect.run(link).await?;
        let (mark,): (i64,) = link.session().only(query_as("SELECT mark FROM shard")).await?;
        let mut facts = losses(&inspection.durability.settings);
        facts.extend(rights::facts(link, NEEDED).await?);
        let mut cells = Vec::with_capacity(self.keys.len());
        for keys in self.keys.chunks(KEYS_MAX) {
            cells.extend(sights(link, keys).await?);
        }
        Ok(Examination { inspection, mark: mark.unsigned_abs(), cells, facts })
    }
}

/// The cells of these keys, in their order.
async fn sights(link: &mut Link, keys: &[Key]) -> Result<Vec<Sight>, Fault> {
    let asked: Vec<Vec<u8>> = keys.iter().map(|key| key.as_str().as_bytes().to_vec()).collect();
    let sql = "SELECT k, life, open, v FROM cells WHERE k = ANY($1)";
    let found: Vec<(Vec<u8>, i64, bool, i64)> = link.session().rows(query_as(sql).bind(asked)).await?;
    let found: HashMap<_, _> = found.into_iter().map(|(key, life, open, v)| (key, (life, open, v))).collect();
    let sight = |key: &Key| match found.get(key.as_str().as_bytes()) {
        None => Sight::Missing,
        Some((life, open, value)) => match u64::try_from(*value) {
            Ok(value) => Sight::Held { life: Life::from_stored(*life), open: *open, value, expires_ms: None },
            Err(_) => Sight::Odd(value.to_string()),
        },
    };
    Ok(keys.iter().map(sight).collect())
}
