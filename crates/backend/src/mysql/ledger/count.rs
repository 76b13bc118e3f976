//! Counting in one statement: it counts where the ledger speaks as the caller knows it, has the run on record that he has seen there,
//! holds his nonce and his layout, and has a row for the key. Whatever else is the matter, the transaction behind it finds out.
//!
//! A statement answers with one number, and the caller needs two: how far the counter is, and the version. So the version comes
//! with the distance of the counter from the least that it had to be, as [`packed`](Quick::unpacked).

use sequent_core::{
    Block, InstanceId,
    ledger::{Answer, DenseAsk, DenseTaken, Pass},
};

use super::session::token_of;
use crate::{
    mysql::connection::Connection,
    net::Fault,
    sql::{Value, bounded as capped},
};

/// So many bits of the one number are the distance: a counter that is further takes the transaction.
const DISTANCE_BITS: u32 = 20;

/// A version from here on takes the transaction: packed, it must not reach the sign.
const VERSION_END: u64 = 1 << 42;

/// All asks of one key in one statement, each of which gets what it asked for.
pub(super) struct Quick<'a> {
    pass: &'a Pass<'a>,
    record: &'a InstanceId,
    asks: &'a [DenseAsk],
    /// The nonces that the row may hold: a caller rarely has more than the one acknowledged last, and one more.
    nonces: [u64; 2],
    /// What all of them take together.
    sum: u64,
    /// What the counter has to be at least, and at most.
    within: (u64, u64),
}

impl<'a> Quick<'a> {
    pub(super) fn of(pass: &'a Pass<'a>, asks: &'a [DenseAsk]) -> Option<Self> {
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

impl Quick<'_> {
    /// Runs the statement; `None`: nothing was written.
    pub(super) async fn run(
        &self,
        connection: &mut Connection,
    ) -> Result<Option<Answer<Vec<DenseTaken>>>, Fault> {
        let Some(token) = token_of(connection, self.pass.under) else { return Ok(None) };
        // Sums are worked out before the condition is looked at: where one would overflow, it must not be an error. And the answer
        // is packed in the condition, which sees the rows as they were. A row that somebody else holds is not waited for: the
        // ledger's own row would be held meanwhile, and with it everybody.
        let sql = "UPDATE sequent_meta m JOIN sequent_layout l ON l.one = 1 JOIN sequent_servers s ON s.server = ? \
            JOIN (SELECT k FROM (SELECT one FROM sequent_meta WHERE one = 1 LIMIT 1 FOR UPDATE) AS first \
                JOIN sequent_dense WHERE k = ? FOR UPDATE SKIP LOCKED) AS held ON true \
            JOIN sequent_dense d ON d.k = held.k SET d.v = d.v + LEAST(?, 9223372036854775807 - d.v), \
            m.version = m.version + 1, s.nonce = ?, \
            s.seen_ms = CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) \
            WHERE m.one = 1 AND m.token = ? AND m.accepted = ? AND m.version < ? AND l.generation = ? AND s.nonce IN (?, ?) \
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
            capped(self.pass.generation).into(),
            one.into(),
            other.into(),
            capped(self.within.0).into(),
            capped(self.within.1).into(),
            VERSION_END.into(),
            (1_u64 << DISTANCE_BITS).into(),
            capped(self.within.0).into(),
            ((1_u64 << DISTANCE_BITS) - 1).into(),
        ];
        let done = connection.exec(sql, params).await?;
        Ok((done.found > 0).then(|| self.unpacked(done.id)))
    }
}
