//! Dense counters: a row each, counted under the lock on `meta`.

use std::collections::BTreeMap;

use sequent_core::{
    BoxFuture, Key, SourceError,
    ledger::{Answer, Dense, DenseAsk, DenseRow, DenseTaken, Pass},
};
use sqlx::{query, query_as};

use super::{
    PostgresLedger, capped, kept,
    pass::{admit, version},
    retention::is_over,
    text,
};
use crate::postgres::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Dense for PostgresLedger {
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
        let now_ms = admit(link, &self.pass).await?;
        let mut values = read(link, self.asks).await?;
        let mut value = Vec::with_capacity(self.asks.len());
        for ask in self.asks {
            let Some((_, now)) = values.get_mut(&ask.key) else {
                value.push(DenseTaken::Over);
                continue;
            };
            let taken = ask.of(*now);
            if let DenseTaken::Last(last) = taken {
                *now = last;
            }
            value.push(taken);
        }
        values.retain(|_, (held, now)| held != now);
        write(link, &values, now_ms).await?;
        let version = version(link, !values.is_empty()).await?;
        Ok(Answer { value, version })
    }
}

/// What each counter had given before, and has given now.
type Values<'a> = BTreeMap<&'a Key, (u64, u64)>;

/// What the counters named have given; without a row, what an operator named as lost. Those that are over are left out.
async fn read<'a>(link: &mut Link, asks: &'a [DenseAsk]) -> Result<Values<'a>, Fault> {
    let mut keys: Vec<&Key> = asks.iter().map(|ask| &ask.key).collect();
    keys.sort_unstable();
    keys.dedup();
    let names: Vec<Vec<u8>> = keys.iter().map(|key| key.as_str().as_bytes().to_vec()).collect();
    let sql = "SELECT coalesce(d.v, m.floor), d.v IS NULL FROM unnest($1::bytea[]) WITH ORDINALITY AS a (k, at) \
        CROSS JOIN meta m LEFT JOIN dense d ON d.k = a.k ORDER BY a.at";
    let held: Vec<(i64, bool)> = link.session().rows(query_as(sql).bind(names)).await?;
    let mut values = Values::new();
    for (key, (held, begins)) in keys.into_iter().zip(held) {
        if !(begins && is_over(link, key).await?) {
            values.insert(key, (kept(held), kept(held)));
        }
    }
    Ok(values)
}

async fn write(link: &mut Link, values: &Values<'_>, now_ms: u64) -> Result<(), Fault> {
    if values.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO dense (k, v, begun_at) SELECT a.k, a.v, $3 FROM unnest($1::bytea[], $2::int8[]) AS a (k, v) \
        ON CONFLICT (k) DO UPDATE SET v = excluded.v";
    let names: Vec<Vec<u8>> = values.keys().map(|key| key.as_str().as_bytes().to_vec()).collect();
    let numbers: Vec<i64> = values.values().map(|(_, now)| capped(*now)).collect();
    link.session().run(query(sql).bind(names).bind(numbers).bind(capped(now_ms))).await?;
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
        // A key with more parts begins with these and `|`, after which comes `}`. Bytes compare as
        // bytes.
        let sql = "SELECT k, v, begun_at FROM dense \
            WHERE $1::bytea IS NULL OR k = $1 OR (k >= $1 || '|'::bytea AND k < $1 || '}'::bytea) ORDER BY k LIMIT $2";
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let query = query_as(sql).bind(self.under.map(str::as_bytes)).bind(most);
        let rows: Vec<(Vec<u8>, i64, i64)> = link.session().rows(query).await?;
        let row = |(key, value, begun_at)| {
            let key = Key::from_stored(&text("key", key)?);
            Ok(DenseRow { key, value: kept(value), begun_at_ms: kept(begun_at) })
        };
        Ok(rows.into_iter().map(row).collect::<Result<_, SourceError>>()?)
    }
}
