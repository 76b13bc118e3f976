//! Dense counting in one MySQL statement.
//!
//! It counts only if the instance, the instance on record, the caller's nonce and the layout are as expected, and the
//! key has a row. In all other cases the ordinary transaction runs afterwards and finds the reason.
//!
//! A statement returns one number, but the caller needs two: the counter and the version. So the version is packed
//! together with the counter's distance from the lowest value expected: see [`unpacked`](Quick::unpacked).

use sequent_core::{
    Block, InstanceId,
    ledger::{Answer, DenseAsk, DenseTaken, Pass},
};

use super::session::token_of;
use crate::{mysql::connection::Connection, net::Fault, sql::Value};

/// Bits of the packed number for the distance. A counter further ahead takes the transaction.
const DISTANCE_BITS: u32 = 20;

/// The first version that takes the transaction: packed, it would reach the sign bit.
const VERSION_END: u64 = 1 << 42;

/// All asks of one key in one statement, if each can get the full count.
pub(super) struct Quick<'a> {
    pass: &'a Pass<'a>,
    record: &'a InstanceId,
    asks: &'a [DenseAsk],
    /// The nonces that the row may have. A caller rarely has more than two: the one acknowledged last, and the next.
    nonces: [u64; 2],
    /// The sum of all counts.
    sum: u64,
    /// The bounds that the counter must be within.
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

    /// Unpacks the statement's number: the numbers of each ask, and the version.
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
    /// Runs the statement. `None`: nothing was written.
    pub(super) async fn run(
        &self,
        connection: &mut Connection,
    ) -> Result<Option<Answer<Vec<DenseTaken>>>, Fault> {
        let Some(token) = token_of(connection, self.pass.under) else { return Ok(None) };
        // MySQL evaluates sums before the condition, so a sum that would overflow must not be an error. The answer is
        // packed within the condition, which sees the rows before the update. A row locked by another client is not
        // awaited, because the ledger's own row is locked meanwhile and with it all callers.
        let sql = "UPDATE sequent_meta m JOIN sequent_documents l ON l.name = 'layout' JOIN sequent_servers s ON s.server = ? \
            JOIN (SELECT k FROM (SELECT one FROM sequent_meta WHERE one = 1 LIMIT 1 FOR UPDATE) AS first \
                JOIN sequent_dense WHERE k = ? FOR UPDATE SKIP LOCKED) AS held ON true \
            JOIN sequent_dense d ON d.k = held.k SET d.v = d.v + LEAST(?, 9223372036854775807 - d.v), \
            m.version = m.version + 1, s.nonce = ?, \
            s.seen_ms = CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) \
            WHERE m.one = 1 AND m.token = ? AND m.accepted = ? AND m.version < ? \
            AND JSON_EXTRACT(CONVERT(l.body USING utf8mb4), '$.generation') = ? AND s.nonce IN (?, ?) AND d.v BETWEEN ? AND ? \
            AND LAST_INSERT_ID((LEAST(m.version, ?) + 1) * ? + GREATEST(LEAST(d.v - ?, ?), 0)) > 0";
        let key = self.asks.first().map_or("", |ask| ask.key.as_str());
        let [one, other] = self.nonces.map(u64::cast_signed);
        let params: Vec<Value> = vec![
            self.pass.server.0.cast_signed().into(),
            key.into(),
            self.sum.into(),
            self.pass.next.cast_signed().into(),
            token.into(),
            self.record.as_str().into(),
            VERSION_END.into(),
            self.pass.generation.into(),
            one.into(),
            other.into(),
            self.within.0.into(),
            self.within.1.into(),
            VERSION_END.into(),
            (1_u64 << DISTANCE_BITS).into(),
            self.within.0.into(),
            ((1_u64 << DISTANCE_BITS) - 1).into(),
        ];
        let done = connection.exec(sql, params).await?;
        Ok((done.found > 0).then(|| self.unpacked(done.id)))
    }
}
