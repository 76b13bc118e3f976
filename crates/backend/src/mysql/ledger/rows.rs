//! Rows: for each counter its life, its base and its ceiling.

use sequent_core::{
    BoxFuture, Incarnation, Key, Life, SlotIndex, SourceError,
    ledger::{Answer, Counter, Moved, Opened, Opening, Pass, PastLife, Raise, Raised, Reading, Row, Rows},
};

use super::{
    MysqlLedger,
    batch::{self, COLUMNS, Kept},
    capped, kept,
    lives::{Open, RaiseThem},
    pass::{Hold, hold},
};
use crate::mysql::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Rows for MysqlLedger {
    fn read<'a>(
        &'a self,
        under: &'a Incarnation,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<Reading, SourceError>> {
        Box::pin(self.pool.perform(Read { under, counters }))
    }

    fn open<'a>(
        &'a self,
        pass: Pass<'a>,
        openings: &'a [Opening],
    ) -> BoxFuture<'a, Result<Answer<Vec<Opened>>, SourceError>> {
        Box::pin(self.pool.perform(Open { pass, openings }))
    }

    fn raise<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Vec<Raised>>, SourceError>> {
        Box::pin(self.pool.perform(RaiseThem { pass, raises }))
    }

    fn moved<'a>(
        &'a self,
        under: &'a Incarnation,
        since: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Moved>, SourceError>> {
        Box::pin(self.pool.perform(Moves { under, since, most }))
    }

    fn list<'a>(
        &'a self,
        sequence: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<(Counter, Row)>, SourceError>> {
        Box::pin(self.pool.perform(List { sequence, most }))
    }

    fn history<'a>(&'a self, counter: &'a Counter) -> BoxFuture<'a, Result<Vec<PastLife>, SourceError>> {
        Box::pin(self.pool.perform(History { counter }))
    }
}

struct Read<'a> {
    under: &'a Incarnation,
    counters: &'a [Counter],
}

impl Work for Read<'_> {
    type Out = Reading;
    const VERB: &'static str = "read rows from";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Reading, Fault> {
        let meta = hold(link, Hold::Read).await?;
        meta.check(self.under)?;
        let sheet = batch::read(link, self.counters).await?;
        let rows = self.counters.iter().map(|counter| sheet.get(counter).cloned()).collect();
        Ok(Reading { rows, clock_ms: meta.clock_ms })
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
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Vec<Moved>, Fault> {
        hold(link, Hold::Read).await?.check(self.under)?;
        let sql = "SELECT slot, k, life, seen, moved FROM sequent_counters \
            WHERE moved > ? ORDER BY moved LIMIT ?";
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<(SlotIndex, Vec<u8>, i64, i64, i64)> =
            link.rows(sql, (capped(self.since), most)).await?;
        let moved = |(slot, key, life, seen, version): (SlotIndex, Vec<u8>, i64, i64, i64)| Moved {
            counter: Counter { slot, key: Key::from_stored(&String::from_utf8_lossy(&key)) },
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
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<Kept> = match self.sequence {
            None => {
                let sql = format!("SELECT {COLUMNS} FROM sequent_counters ORDER BY slot, k LIMIT ?");
                link.rows(&sql, (most,)).await?
            }
            Some(name) => {
                // A key of the sequence is its name, or begins with its name and `|`, after which comes `}`.
                let sql = format!(
                    "SELECT {COLUMNS} FROM sequent_counters WHERE k = ? OR (k >= ? AND k < ?) ORDER BY slot, k LIMIT ?"
                );
                link.rows(&sql, (name, format!("{name}|"), format!("{name}}}"), most)).await?
            }
        };
        Ok(rows.into_iter().map(batch::pair).collect())
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
        let sql = "SELECT life, base, ceiling FROM sequent_history WHERE k = ? AND slot = ? ORDER BY ended";
        let rows: Vec<(i64, i64, i64)> =
            link.rows(sql, (self.counter.key.as_str(), self.counter.slot)).await?;
        let past = |(life, base, ceiling)| PastLife {
            life: Life::from_stored(life),
            base: kept(base),
            ceiling: kept(ceiling),
        };
        Ok(rows.into_iter().map(past).collect())
    }
}
