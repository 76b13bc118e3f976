//! Dense counters: a row each, counted under the lock of a writer.

use std::collections::BTreeMap;

use sequent_core::{
    BoxFuture, Key, SourceError,
    ledger::{Answer, Dense, DenseAsk, DenseRow, DenseTaken, Pass},
};
use sqlx::{query, query_as};

use super::{
    SqliteLedger, capped, kept,
    lives::floor,
    pass::{admit, version},
    retention::is_over,
};
use crate::sqlite::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Dense for SqliteLedger {
    fn count<'a>(
        &'a self,
        pass: Pass<'a>,
        asks: &'a [DenseAsk],
    ) -> BoxFuture<'a, Result<Answer<Vec<DenseTaken>>, SourceError>> {
        Box::pin(self.database.perform(Count { pass, asks }))
    }

    fn dense<'a>(
        &'a self,
        under: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<DenseRow>, SourceError>> {
        Box::pin(self.database.perform(List { under, most }))
    }
}

struct Count<'a> {
    pass: Pass<'a>,
    asks: &'a [DenseAsk],
}

impl Work for Count<'_> {
    type Out = Answer<Vec<DenseTaken>>;
    const VERB: &'static str = "count in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Answer<Vec<DenseTaken>>, Fault> {
        admit(link, &self.pass).await?;
        // What each counter had given before, and has given now; `None` of one that is over.
        let mut values: BTreeMap<&Key, Option<(u64, u64)>> = BTreeMap::new();
        let mut value = Vec::with_capacity(self.asks.len());
        for ask in self.asks {
            if !values.contains_key(&ask.key) {
                let held = read_one(link, &ask.key).await?;
                values.insert(&ask.key, held.map(|held| (held, held)));
            }
            let Some(Some((_, now))) = values.get_mut(&ask.key) else {
                value.push(DenseTaken::Over);
                continue;
            };
            let taken = ask.of(*now);
            if let DenseTaken::Last(last) = taken {
                *now = last;
            }
            value.push(taken);
        }
        let values = values.into_iter().filter_map(|(key, value)| Some((key, value?)));
        let mut gave = false;
        for (key, (_, now)) in values.filter(|(_, (held, now))| held != now) {
            write_one(link, key, now).await?;
            gave = true;
        }
        let version = version(link, gave).await?;
        Ok(Answer { value, version })
    }
}

/// What a counter has given; without a row, what an operator named as lost, or `None` where its period is over for good.
async fn read_one(link: &mut Link, key: &Key) -> Result<Option<u64>, Fault> {
    let sql = "SELECT v FROM dense WHERE k = ?1";
    match link.row::<(i64,)>(query_as(sql).bind(key.as_str())).await? {
        Some((value,)) => Ok(Some(kept(value))),
        None if is_over(link, key).await? => Ok(None),
        None => floor(link).await.map(Some),
    }
}

async fn write_one(link: &mut Link, key: &Key, value: u64) -> Result<(), Fault> {
    let sql =
        "INSERT INTO dense (k, v, begun_at) VALUES (?1, ?2, ?3) ON CONFLICT (k) DO UPDATE SET v = excluded.v";
    let now_ms = capped(link.wall_ms());
    link.run(query(sql).bind(key.as_str()).bind(capped(value)).bind(now_ms)).await?;
    Ok(())
}

struct List<'a> {
    under: Option<&'a str>,
    most: usize,
}

impl Work for List<'_> {
    type Out = Vec<DenseRow>;
    const VERB: &'static str = "list dense counters of";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Vec<DenseRow>, Fault> {
        // A key with more parts begins with these and `|`, after which comes `}`.
        let sql = "SELECT k, v, begun_at FROM dense \
            WHERE ?1 IS NULL OR k = ?1 OR (k >= ?1 || '|' AND k < ?1 || '}') ORDER BY k LIMIT ?2";
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<(String, i64, i64)> = link.rows(query_as(sql).bind(self.under).bind(most)).await?;
        let row = |(key, value, begun_at): (String, i64, i64)| DenseRow {
            key: Key::from_stored(&key),
            value: kept(value),
            begun_at_ms: kept(begun_at),
        };
        Ok(rows.into_iter().map(row).collect())
    }
}
