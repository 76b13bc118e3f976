//! Rows: for each counter its life, its base and its ceiling.

use sequent_core::{
    Block, BoxFuture, Incarnation, Key, Life, SlotIndex, SourceError,
    ledger::{Answer, Counter, Opened, Opening, Pass, PastLife, Raise, Raised, Reading, Row, Rows},
};
use sqlx::{query, query_as};

use super::{
    SqliteLedger, capped, kept,
    pass::{admit, check, speaker, version},
};
use crate::sqlite::{
    database::{Frame, Work},
    fault::Fault,
    link::Link,
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

struct Open<'a> {
    pass: Pass<'a>,
    openings: &'a [Opening],
}

impl Work for Open<'_> {
    type Out = Answer<Vec<Opened>>;
    const VERB: &'static str = "open lives in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Answer<Vec<Opened>>, Fault> {
        admit(link, &self.pass).await?;
        let ledger = speaker(link).await?;
        let mut value = Vec::with_capacity(self.openings.len());
        for opening in self.openings {
            value.push(open_one(link, opening, &ledger).await?);
        }
        let opened_any = value.iter().any(|opened| matches!(opened, Opened::Row(_)));
        let version = version(link, opened_any).await?;
        Ok(Answer { value, version })
    }
}

async fn open_one(link: &mut Link, opening: &Opening, ledger: &Incarnation) -> Result<Opened, Fault> {
    let old = read_one(link, &opening.counter).await?;
    let known = old.as_ref().map_or(0, |row| row.base.max(row.seen));
    let found = old.as_ref().map_or(0, |row| row.ceiling).max(opening.value);
    let bound = known.saturating_add(opening.ahead).saturating_add(opening.leap_max).min(Block::NUMBER_MAX);
    if found > bound {
        return Ok(Opened::Leapt { found, bound });
    }
    let row = Row {
        life: opening.life,
        store: opening.store.clone(),
        ledger: ledger.clone(),
        base: found,
        ceiling: found.saturating_add(opening.ahead).min(Block::NUMBER_MAX),
        seen: found,
        opened_at_ms: link.wall_ms(),
    };
    if let Some(old) = old {
        remember(link, &opening.counter, &old).await?;
    }
    write_one(link, &opening.counter, &row).await?;
    Ok(Opened::Row(row))
}

async fn remember(link: &mut Link, counter: &Counter, ended: &Row) -> Result<(), Fault> {
    let sql = "INSERT INTO history (slot, k, life, base, ceiling) VALUES (?1, ?2, ?3, ?4, ?5)";
    let query = query(sql).bind(counter.slot).bind(counter.key.as_str()).bind(ended.life.to_stored());
    link.run(query.bind(capped(ended.base)).bind(capped(ended.ceiling))).await?;
    Ok(())
}

async fn write_one(link: &mut Link, counter: &Counter, row: &Row) -> Result<(), Fault> {
    let sql = "INSERT OR REPLACE INTO counters \
        (slot, k, life, store, ledger, base, ceiling, seen, opened_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let query = query(sql).bind(counter.slot).bind(counter.key.as_str()).bind(row.life.to_stored());
    let query = query.bind(row.store.as_str()).bind(row.ledger.as_str());
    let query = query.bind(capped(row.base)).bind(capped(row.ceiling)).bind(capped(row.seen));
    link.run(query.bind(capped(row.opened_at_ms))).await?;
    Ok(())
}

struct RaiseThem<'a> {
    pass: Pass<'a>,
    raises: &'a [Raise],
}

impl Work for RaiseThem<'_> {
    type Out = Answer<Vec<Raised>>;
    const VERB: &'static str = "raise ceilings in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Answer<Vec<Raised>>, Fault> {
        raise_all(link, &self.pass, self.raises).await
    }
}

/// Checks the pass, and raises each ceiling where the row still holds the life.
pub(super) async fn raise_all(
    link: &mut Link,
    pass: &Pass<'_>,
    raises: &[Raise],
) -> Result<Answer<Vec<Raised>>, Fault> {
    admit(link, pass).await?;
    let mut value = Vec::with_capacity(raises.len());
    let mut raised_any = false;
    for raise in raises {
        value.push(raise_one(link, raise, &mut raised_any).await?);
    }
    let version = version(link, raised_any).await?;
    Ok(Answer { value, version })
}

async fn raise_one(link: &mut Link, raise: &Raise, raised_any: &mut bool) -> Result<Raised, Fault> {
    let Counter { slot, key } = &raise.counter;
    let sql = "SELECT ceiling, seen FROM counters WHERE slot = ?1 AND k = ?2 AND life = ?3";
    let query_row = query_as(sql).bind(*slot).bind(key.as_str()).bind(raise.life.to_stored());
    let Some((held, seen)) = link.row::<(i64, i64)>(query_row).await? else { return Ok(Raised::Ended) };
    if raise.seen > kept(held).saturating_add(raise.leap_max).min(Block::NUMBER_MAX) {
        return Ok(Raised::Leapt { ceiling: kept(held) });
    }
    let (ceiling, highest) = (held.max(capped(raise.ceiling)), seen.max(capped(raise.seen)));
    if (ceiling, highest) != (held, seen) {
        let sql = "UPDATE counters SET ceiling = ?1, seen = ?2 WHERE slot = ?3 AND k = ?4";
        link.run(query(sql).bind(ceiling).bind(highest).bind(*slot).bind(key.as_str())).await?;
    }
    *raised_any |= ceiling != held;
    Ok(Raised::Held { ceiling: kept(ceiling), seen: kept(highest) })
}

struct List<'a> {
    sequence: Option<&'a str>,
    most: usize,
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
        let pair = |(life, store, ledger, base, ceiling, seen, opened_at, slot, key): KeptWithCounter| {
            let key = Key::from_stored(&key);
            (Counter { slot, key }, row((life, store, ledger, base, ceiling, seen, opened_at)))
        };
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

async fn read_one(link: &mut Link, counter: &Counter) -> Result<Option<Row>, Fault> {
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
