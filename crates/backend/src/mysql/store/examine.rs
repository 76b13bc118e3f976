//! A look into a shard that changes nothing.

use std::collections::HashMap;

use mysql_async::{Params, Value};
use sequent_core::{
    BoxFuture, CellPage, Examination, Examine, Fact, FactClass, Key, Life, Sight, SourceError,
};

use super::{MysqlStore, Way, code::Codes, identity::Inspect};
use crate::mysql::{
    fault::Fault,
    grants::{self, Needed},
    link::Link,
};
use crate::sql::{TxMode, Work};

/// How many keys one statement asks for.
const KEYS_MAX: usize = 512;

impl Examine for MysqlStore {
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>> {
        Box::pin(self.pool.look(Look { store: self, keys }))
    }

    fn cells<'a>(&'a self, from: Option<&'a str>) -> BoxFuture<'a, Result<CellPage, SourceError>> {
        Box::pin(self.pool.look(Leaf { store: self, from }))
    }
}

/// How many cells are told of at once.
const CELLS_A_PAGE: usize = 4096;

struct Leaf<'a> {
    store: &'a MysqlStore,
    from: Option<&'a str>,
}

impl Work<Link> for Leaf<'_> {
    type Out = CellPage;
    const VERB: &'static str = "read the cells of";
    const MODE: TxMode = TxMode::Single;

    async fn run(&self, link: &mut Link) -> Result<CellPage, Fault> {
        // No key is empty, so none is at or before the empty one.
        let sql = "SELECT k, v FROM sequent_cells WHERE k > ? ORDER BY k LIMIT ?";
        let from = self.from.unwrap_or_default();
        let found: Vec<(Vec<u8>, i64)> = link.rows(sql, (from, CELLS_A_PAGE)).await?;
        let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
        let next = found.last().filter(|_| found.len() == CELLS_A_PAGE).map(|(key, _)| text(key));
        let cell =
            |(key, value): (Vec<u8>, i64)| (Key::from_stored(&text(&key)), u64::try_from(value).unwrap_or(0));
        let mut cells: Vec<(Key, u64)> = found.into_iter().map(cell).collect();
        if let Way::AutoIncrement(codes) = &self.store.way {
            for (key, value) in &mut cells {
                *value = codes.told(link, key, *value).await?;
            }
        }
        Ok(CellPage { cells, next, is_partial: false })
    }
}

struct Look<'a> {
    store: &'a MysqlStore,
    keys: &'a [Key],
}

impl Work<Link> for Look<'_> {
    type Out = Examination;
    const VERB: &'static str = "examine";
    const MODE: TxMode = TxMode::Single;

    async fn run(&self, link: &mut Link) -> Result<Examination, Fault> {
        let sql = "SELECT (SELECT said FROM sequent_identity WHERE name = 'way'), \
            COALESCE((SELECT held FROM sequent_identity WHERE name = 'mark'), 0)";
        let (way, mark): (Option<String>, u64) = link.only(sql, ()).await?;
        let inspection = Inspect.run(link).await?;
        let database = &self.store.pool.options().database;
        let mut facts = link.settings().losses();
        facts.extend(grants::facts(link, database, self.store.needed()).await?);
        facts.extend(self.store.own_way(way));
        let cells = match &self.store.way {
            Way::AutoIncrement(codes) => {
                facts.extend(increments(link));
                counted(link, codes, self.keys).await?
            }
            Way::Row | Way::Segment(_) => rows(link, self.keys).await?,
        };
        Ok(Examination { inspection, mark, cells, facts })
    }
}

impl MysqlStore {
    fn needed(&self) -> &'static Needed {
        match self.way {
            Way::Row | Way::Segment(_) => {
                &Needed { always: &["SELECT", "INSERT", "UPDATE"], at_times: &["CREATE"] }
            }
            Way::AutoIncrement(_) => {
                &Needed { always: &["SELECT", "INSERT", "UPDATE", "DELETE"], at_times: &["CREATE"] }
            }
        }
    }

    /// A database in which another kind of store counts.
    fn own_way(&self, found: Option<String>) -> Option<Fact> {
        let (found, own) = (found?, self.pool.schema().way?);
        let fact = Fact::new(FactClass::Repeats, "way to count", &found).expected(own);
        let fact = fact.causes("two ways in one database would each give the same ids, so it is refused");
        let mend = "name the kind of store that this database was made by, or another database";
        (found != own).then(|| fact.mend(mend))
    }
}

/// The settings by which `AUTO_INCREMENT` does not count one by one.
fn increments(link: &Link) -> Vec<Fact> {
    let wrong = |name: &&str| !matches!(link.settings().get(name), "1" | "");
    let fact = |name: &str| {
        let fact = Fact::new(FactClass::Repeats, name, link.settings().get(name)).expected("1");
        let fact = fact
            .causes("ids are left out, or another server of a ring gives those between; the kind refuses it");
        fact.mend(format!("SET GLOBAL {name} = 1, and in the server's option file"))
    };
    ["auto_increment_increment", "auto_increment_offset"]
        .iter()
        .filter(|name| wrong(name))
        .map(|n| fact(n))
        .collect()
}

/// The rows of these keys, in their order.
async fn rows(link: &mut Link, keys: &[Key]) -> Result<Vec<Sight>, Fault> {
    let mut sights = Vec::with_capacity(keys.len());
    for keys in keys.chunks(KEYS_MAX) {
        let marks = vec!["?"; keys.len()].join(", ");
        let sql = format!("SELECT k, life, open, v FROM sequent_cells WHERE k IN ({marks})");
        let asked = keys.iter().map(|key| Value::Bytes(key.as_str().as_bytes().to_vec())).collect();
        let found: Vec<(Vec<u8>, i64, bool, i64)> = link.rows(&sql, Params::Positional(asked)).await?;
        let found: HashMap<_, _> =
            found.into_iter().map(|(key, life, open, v)| (key, (life, open, v))).collect();
        let sight = |key: &Key| found.get(key.as_str().as_bytes()).map_or(Sight::Missing, |row| sight(*row));
        sights.extend(keys.iter().map(sight));
    }
    Ok(sights)
}

fn sight((life, open, value): (i64, bool, i64)) -> Sight {
    match u64::try_from(value) {
        Ok(value) => Sight::Held { life: Life::from_stored(life), open, value, expires_ms: None },
        Err(_) => Sight::Odd(value.to_string()),
    }
}

/// The same where tables count: the highest id of each, behind its fence.
async fn counted(link: &mut Link, codes: &Codes, keys: &[Key]) -> Result<Vec<Sight>, Fault> {
    let mut sights = rows(link, keys).await?;
    for (key, sight) in keys.iter().zip(&mut sights) {
        if let Sight::Held { value, open, .. } = sight {
            match codes.highest(link, key, *value).await? {
                Some(highest) => *value = highest.max(*value),
                None if *open => *sight = Sight::Missing,
                None => {}
            }
        }
    }
    Ok(sights)
}
