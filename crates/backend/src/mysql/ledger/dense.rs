//! Dense counters: a row each.
//!
//! Asks of one key, as nearly all are, are one statement: it counts where the ledger speaks as the caller knows it, has the run on
//! record that he has seen there, holds his nonce and his layout, and has a row for the key. Whatever else is the matter, the
//! transaction behind it finds out.
//!
//! A statement answers with one number, and the caller needs two: how far the counter is, and the version. So the version comes
//! with the distance of the counter from the least that it had to be, as [`packed`](Quick::unpacked).

use std::collections::BTreeMap;

use mysql_async::Value;
use sequent_core::{
    Block, BoxFuture, Incarnation, Key, SourceError,
    ledger::{Answer, Dense, DenseAsk, DenseRow, DenseTaken, Pass},
};

use super::{
    MysqlLedger, capped, kept,
    pass::{Meta, admit, token_of},
    retention::is_over,
};
use crate::mysql::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Dense for MysqlLedger {
    fn count<'a>(
        &'a self,
        pass: Pass<'a>,
        asks: &'a [DenseAsk],
    ) -> BoxFuture<'a, Result<Answer<Vec<DenseTaken>>, SourceError>> {
        Box::pin(async move {
            if let Some(quick) = Quick::of(pass, asks)
                && let Some(answer) = self.pool.perform(quick).await?
            {
                return Ok(answer);
            }
            self.pool.perform(Count { pass, asks }).await
        })
    }

    fn dense<'a>(
        &'a self,
        under: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<DenseRow>, SourceError>> {
        Box::pin(self.pool.perform(List { under, most }))
    }
}

/// So many bits of the one number are the distance: a counter that is further takes the transaction.
const DISTANCE_BITS: u32 = 20;

/// A version from here on takes the transaction: packed, it must not reach the sign.
const VERSION_END: u64 = 1 << 42;

/// All asks of one key in one statement, each of which gets what it asked for.
struct Quick<'a> {
    pass: Pass<'a>,
    record: &'a Incarnation,
    asks: &'a [DenseAsk],
    /// The nonces that the row may hold: a caller rarely has more than the one acknowledged last, and one more.
    nonces: [u64; 2],
    /// What all of them take together.
    sum: u64,
    /// What the counter has to be at least, and at most.
    within: (u64, u64),
}

impl<'a> Quick<'a> {
    fn of(pass: Pass<'a>, asks: &'a [DenseAsk]) -> Option<Self> {
        let nonces = match *pass.nonces {
            [one] => [one, one],
            [one, other] => [one, other],
            _ => return None,
        };
        let key = &asks.first()?.key;
        if !asks.iter().all(|ask| ask.key == *key && ask.count > 0) {
            return None;
        }
        let sum = asks.iter().try_fold(0_u64, |sum, ask| sum.checked_add(ask.count))?;
        let lowest = asks.iter().map(|ask| ask.above).max()?;
        let limit = asks.iter().map(|ask| ask.limit).min()?.min(Block::NUMBER_MAX);
        let highest = limit.checked_sub(sum)?.min(lowest + (1 << DISTANCE_BITS) - 1);
        Some(Self { pass, record: pass.record?, asks, nonces, sum, within: (lowest, highest) })
    }

    /// What the statement's number says: what each ask took, and the version.
    fn unpacked(&self, packed: u64) -> Answer<Vec<DenseTaken>> {
        let mut last = self.within.0 + packed % (1 << DISTANCE_BITS);
        let each = |ask: &DenseAsk| {
            last += ask.count;
            DenseTaken::Last(last)
        };
        Answer { value: self.asks.iter().map(each).collect(), version: packed >> DISTANCE_BITS }
    }
}

impl Work for Quick<'_> {
    /// `None`: nothing was written.
    type Out = Option<Answer<Vec<DenseTaken>>>;
    const VERB: &'static str = "count in";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Self::Out, Fault> {
        let Some(token) = token_of(link, self.pass.under) else { return Ok(None) };
        // Sums are worked out before the condition is looked at: where one would overflow, it must not be an error. And the answer
        // is packed in the condition, which sees the rows as they were.
        let sql = "UPDATE sequent_meta m JOIN sequent_layout l ON l.one = 1 JOIN sequent_servers s ON s.server = ? \
            JOIN sequent_dense d ON d.k = ? SET d.v = d.v + LEAST(?, 9223372036854775807 - d.v), \
            m.version = m.version + 1, s.nonce = ?, \
            s.seen_ms = CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) \
            WHERE m.one = 1 AND m.token = ? AND m.accepted = ? AND m.version < ? AND l.epoch = ? AND s.nonce IN (?, ?) \
            AND d.v BETWEEN ? AND ? \
            AND LAST_INSERT_ID((LEAST(m.version, ?) + 1) * ? + GREATEST(LEAST(d.v - ?, ?), 0)) > 0";
        let key = self.asks.first().map_or("", |ask| ask.key.as_str());
        let [one, other] = self.nonces.map(u64::cast_signed);
        let params: Vec<Value> = vec![
            self.pass.server.0.cast_signed().into(),
            key.into(),
            capped(self.sum).into(),
            self.pass.next.cast_signed().into(),
            token.into(),
            self.record.as_str().into(),
            VERSION_END.into(),
            capped(self.pass.epoch).into(),
            one.into(),
            other.into(),
            capped(self.within.0).into(),
            capped(self.within.1).into(),
            VERSION_END.into(),
            (1_u64 << DISTANCE_BITS).into(),
            capped(self.within.0).into(),
            ((1_u64 << DISTANCE_BITS) - 1).into(),
        ];
        let done = link.exec(sql, params).await?;
        Ok((done.found > 0).then(|| self.unpacked(done.id)))
    }
}

/// Asks of whatever keys, with an answer to each.
struct Count<'a> {
    pass: Pass<'a>,
    asks: &'a [DenseAsk],
}

impl Work for Count<'_> {
    type Out = Answer<Vec<DenseTaken>>;
    const VERB: &'static str = "count in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Answer<Vec<DenseTaken>>, Fault> {
        let meta = admit(link, &self.pass).await?;
        // What each counter had given before, and has given now; `None` of one that is over.
        let mut values: BTreeMap<&Key, Option<(u64, u64)>> = BTreeMap::new();
        let mut value = Vec::with_capacity(self.asks.len());
        for ask in self.asks {
            if !values.contains_key(&ask.key) {
                let held = read_one(link, &ask.key, &meta).await?;
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
            gave = true;
            let sql = "INSERT INTO sequent_dense (k, v, begun_at) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE v = VALUES(v)";
            link.exec(sql, (key.as_str(), capped(now), capped(meta.clock_ms))).await?;
        }
        let version = meta.version(link, gave).await?;
        Ok(Answer { value, version })
    }
}

/// What a counter has given; without a row, what an operator named as lost, or `None` where its period is over for good.
/// The row is held: what counts in one statement does not wait for the ledger's own.
async fn read_one(link: &mut Link, key: &Key, meta: &Meta) -> Result<Option<u64>, Fault> {
    let sql = "SELECT v FROM sequent_dense WHERE k = ? FOR UPDATE";
    let row: Option<(i64,)> = link.row(sql, (key.as_str(),)).await?;
    match row {
        Some((value,)) => Ok(Some(kept(value))),
        None if is_over(link, key).await? => Ok(None),
        None => Ok(Some(meta.floor)),
    }
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
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<(Vec<u8>, i64, i64)> = match self.under {
            None => link.rows("SELECT k, v, begun_at FROM sequent_dense ORDER BY k LIMIT ?", (most,)).await?,
            Some(name) => {
                // A key with more parts begins with these and `|`, after which comes `}`.
                let sql = "SELECT k, v, begun_at FROM sequent_dense \
                    WHERE k = ? OR (k >= ? AND k < ?) ORDER BY k LIMIT ?";
                link.rows(sql, (name, format!("{name}|"), format!("{name}}}"), most)).await?
            }
        };
        let row = |(key, value, begun_at): (Vec<u8>, i64, i64)| DenseRow {
            key: Key::from_stored(&String::from_utf8_lossy(&key)),
            value: kept(value),
            begun_at_ms: kept(begun_at),
        };
        Ok(rows.into_iter().map(row).collect())
    }
}
