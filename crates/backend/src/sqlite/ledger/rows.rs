//! Rows: for each counter its life, its base and its ceiling.

use sequent_core::{
    BoxFuture, Incarnation, Key, Life, SlotIndex, SourceError,
    ledger::{Answer, Counter, Moved, Opened, Opening, Pass, PastLife, Raise, Raised, Reading, Row, Rows},
};
use sqlx::query_as;

use super::{
    SqliteLedger, capped, kept,
    lives::{Open, RaiseThem},
    pass::check,
};
use crate::sqlite::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Rows for SqliteLedger {
    fn read<'a>(
        &'a self,
        under: &'a Incarnation,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<Reading, SourceError>> {
        Box::pin(self.database.perform(Read { under, counters }))
    }

    fn open<'a>(
        &'a self,
        pass: Pass<'a>,
        openings: &'a [Opening],
    ) -> BoxFuture<'a, Result<Answer<Vec<Opened>>, SourceError>> {
        Box::pin(self.database.perform(Open { pass, openings }))
    }

    fn raise<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Vec<Raised>>, SourceError>> {
        Box::pin(self.database.perform(RaiseThem { pass, raises }))
    }

    fn moved<'a>(
        &'a self,
        under: &'a Incarnation,
        since: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Moved>, SourceError>> {
        Box::pin(self.database.perform(Moves { under, since, most }))
    }

    fn list<'a>(
        &'a self,
        sequence: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<(Counter, Row)>, SourceError>> {
        Box::pin(self.database.perform(List { sequence, most }))
    }

    fn history<'a>(&'a self, counter: &'a Counter) -> BoxFuture<'a, Result<Vec<PastLife>, SourceError>> {
        Box::pin(self.database.perform(History { counter }))
    }
}

struct Read<'a> {
    under: &'a Incarnation,
    counters: &'a [Counter],
}

impl Work for Read<'_> {
    type Out = Reading;
    const VERB: &'static str = "read rows from";
    const FRAME: Frame = Frame::Read;

    async fn run(&self, link: &mut Link) -> Result<Reading, Fault> {
        check(link, self.under).await?;
        let mut rows = Vec::with_capacity(self.counters.len());
        for counter in self.counters {
            rows.push(read_one(link, counter).await?);
        }
        Ok(Reading { rows, clock_ms: link.wall_ms() })
    }
}

struct Moves<'a> {
    under: &'a Incarnation,
    since: u64,
    most: usize,
}

impl Work for Moves<'_> {
    type Out = Vec<Moved>;
    const VERB: &'static str = "read what moved in";
    const FRAME: Frame = Frame::Read;

    async fn run(&self, link: &mut Link) -> Result<Vec<Moved>, Fault> {
        check(link, self.under).await?;
        let sql = "SELECT slot, k, life, seen, moved FROM counters WHERE moved > ?1 ORDER BY moved LIMIT ?2";
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<(SlotIndex, String, i64, i64, i64)> =
            link.rows(query_as(sql).bind(capped(self.since)).bind(most)).await?;
        let moved = |(slot, key, life, seen, version): (SlotIndex, String, i64, i64, i64)| Moved {
            counter: Counter { slot, key: Key::from_stored(&key) },
            life: Life::from_stored(life),
            seen: kept(seen),
            version: kept(version),
        };
        Ok(rows.into_iter().map(moved).collect())
    }
}

pub(super) struct List<'a> {
    pub(super) sequence: Option<&'a str>,
    pub(super) most: usize,
}

impl Work for List<'_> {
    type Out = Vec<(Counter, Row)>;
    const VERB: &'static str = "list rows of";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Vec<(Counter, Row)>, Fault> {
        // A key of the sequence is its name, or begins with its name and `|`, after which comes `}`.
        let sql = "SELECT life, store, ledger, base, ceiling, seen, opened_at, slot, k FROM counters \
            WHERE ?1 IS NULL OR k = ?1 OR (k >= ?1 || '|' AND k < ?1 || '}') ORDER BY slot, k LIMIT ?2";
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<KeptWithCounter> = link.rows(query_as(sql).bind(self.sequence).bind(most)).await?;
        Ok(rows.into_iter().map(pair).collect())
    }
}

struct History<'a> {
    counter: &'a Counter,
}

impl Work for History<'_> {
    type Out = Vec<PastLife>;
    const VERB: &'static str = "read history from";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Vec<PastLife>, Fault> {
        let sql = "SELECT life, base, ceiling FROM history WHERE k = ?1 AND slot = ?2 ORDER BY ended";
        let query = query_as(sql).bind(self.counter.key.as_str()).bind(self.counter.slot);
        let rows: Vec<(i64, i64, i64)> = link.rows(query).await?;
        let past = |(life, base, ceiling)| PastLife {
            life: Life::from_stored(life),
            base: kept(base),
            ceiling: kept(ceiling),
        };
        Ok(rows.into_iter().map(past).collect())
    }
}

type Kept = (i64, String, String, i64, i64, i64, i64);
type KeptWithCounter = (i64, String, String, i64, i64, i64, i64, SlotIndex, String);

/// The rows of one key in all slots.
pub(super) async fn rows_of(link: &mut Link, key: &Key) -> Result<Vec<(Counter, Row)>, Fault> {
    let sql = "SELECT life, store, ledger, base, ceiling, seen, opened_at, slot, k FROM counters \
        WHERE k = ?1 ORDER BY slot";
    let rows: Vec<KeptWithCounter> = link.rows(query_as(sql).bind(key.as_str())).await?;
    Ok(rows.into_iter().map(pair).collect())
}

fn pair((life, store, ledger, base, ceiling, seen, opened_at, slot, key): KeptWithCounter) -> (Counter, Row) {
    let key = Key::from_stored(&key);
    (Counter { slot, key }, row((life, store, ledger, base, ceiling, seen, opened_at)))
}

pub(super) async fn read_one(link: &mut Link, counter: &Counter) -> Result<Option<Row>, Fault> {
    let sql =
        "SELECT life, store, ledger, base, ceiling, seen, opened_at FROM counters WHERE slot = ?1 AND k = ?2";
    Ok(link.row(query_as(sql).bind(counter.slot).bind(counter.key.as_str())).await?.map(row))
}

fn row((life, store, ledger, base, ceiling, seen, opened_at): Kept) -> Row {
    Row {
        life: Life::from_stored(life),
        store: Incarnation::new(store),
        ledger: Incarnation::new(ledger),
        base: kept(base),
        ceiling: kept(ceiling),
        seen: kept(seen),
        opened_at_ms: kept(opened_at),
    }
}
