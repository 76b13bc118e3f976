//! Periods that are over: fences, and counters that are forgotten.

use sequent_core::{
    BoxFuture, Key, SlotIndex, SourceError,
    ledger::{Advanced, Counter, Retention},
};
use sqlx::{query, query_as};

use super::{
    PostgresLedger,
    catalog::note,
    kept,
    pass::{lock, version},
    text,
};
use crate::postgres::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Retention for PostgresLedger {
    fn keys_between<'a>(
        &'a self,
        slot: SlotIndex,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>, SourceError>> {
        Box::pin(self.database.perform(Keys { slot, from, below, most }))
    }

    fn forget<'a>(
        &'a self,
        fence: &'a Advanced,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.database.perform(Forget { fence, counters }))
    }

    fn dense_between<'a>(
        &'a self,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>, SourceError>> {
        Box::pin(self.database.perform(DenseKeys { from, below, most }))
    }

    fn forget_dense<'a>(
        &'a self,
        fence: &'a Advanced,
        keys: &'a [Key],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.database.perform(ForgetDense { fence, keys }))
    }

    fn fence<'a>(&'a self, fence: &'a Advanced) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.database.perform(Fence { fence }))
    }
}

struct Keys<'a> {
    slot: SlotIndex,
    from: &'a str,
    below: &'a str,
    most: usize,
}

impl Work for Keys<'_> {
    type Out = Vec<Key>;
    const VERB: &'static str = "list keys of";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Vec<Key>, Fault> {
        let sql = "SELECT k FROM counters WHERE slot = $1 AND k >= $2 AND k < $3 ORDER BY k LIMIT $4";
        let query = query_as(sql).bind(i32::from(self.slot)).bind(self.from.as_bytes());
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<(Vec<u8>,)> = link.session().rows(query.bind(self.below.as_bytes()).bind(most)).await?;
        let key = |(key,)| Ok(Key::from_stored(&text("key", key)?));
        Ok(rows.into_iter().map(key).collect::<Result<_, SourceError>>()?)
    }
}

struct Forget<'a> {
    fence: &'a Advanced,
    counters: &'a [Counter],
}

impl Work for Forget<'_> {
    type Out = u64;
    const VERB: &'static str = "forget counters of";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        lock(link).await?;
        let held = note(link, self.fence).await?;
        let slots: Vec<i32> = self.counters.iter().map(|counter| counter.slot.into()).collect();
        let keys: Vec<&[u8]> = self.counters.iter().map(|counter| counter.key.as_str().as_bytes()).collect();
        let mut gone = 0;
        for (table, sql) in [
            (
                "counters",
                "DELETE FROM counters c USING unnest($1::int4[], $2::bytea[]) AS a (slot, k) WHERE c.slot = a.slot AND c.k = a.k",
            ),
            (
                "history",
                "DELETE FROM history c USING unnest($1::int4[], $2::bytea[]) AS a (slot, k) WHERE c.slot = a.slot AND c.k = a.k",
            ),
            (
                "advances",
                "DELETE FROM advances c USING unnest($1::int4[], $2::bytea[]) AS a (slot, k) WHERE c.k = a.k",
            ),
        ] {
            let went = link.session().run(query(sql).bind(&slots[..]).bind(&keys[..])).await?;
            gone += if table == "counters" { went } else { 0 };
        }
        version(link, gone > 0).await?;
        Ok(held)
    }
}

struct DenseKeys<'a> {
    from: &'a str,
    below: &'a str,
    most: usize,
}

impl Work for DenseKeys<'_> {
    type Out = Vec<Key>;
    const VERB: &'static str = "list dense keys of";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Vec<Key>, Fault> {
        let sql = "SELECT k FROM dense WHERE k >= $1 AND k < $2 ORDER BY k LIMIT $3";
        let query = query_as(sql).bind(self.from.as_bytes()).bind(self.below.as_bytes());
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<(Vec<u8>,)> = link.session().rows(query.bind(most)).await?;
        let key = |(key,)| Ok(Key::from_stored(&text("key", key)?));
        Ok(rows.into_iter().map(key).collect::<Result<_, SourceError>>()?)
    }
}

struct ForgetDense<'a> {
    fence: &'a Advanced,
    keys: &'a [Key],
}

impl Work for ForgetDense<'_> {
    type Out = u64;
    const VERB: &'static str = "forget dense counters of";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        lock(link).await?;
        let held = note(link, self.fence).await?;
        let keys: Vec<&[u8]> = self.keys.iter().map(|key| key.as_str().as_bytes()).collect();
        let gone =
            link.session().run(query("DELETE FROM dense WHERE k = ANY($1::bytea[])").bind(&keys[..])).await?;
        link.session().run(query("DELETE FROM advances WHERE k = ANY($1::bytea[])").bind(&keys[..])).await?;
        version(link, gone > 0).await?;
        Ok(held)
    }
}

struct Fence<'a> {
    fence: &'a Advanced,
}

impl Work for Fence<'_> {
    type Out = u64;
    const VERB: &'static str = "read a fence of";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let query = query_as("SELECT number FROM advances WHERE k = $1");
        let held: Option<(i64,)> = link.session().row(query.bind(self.fence.key.as_str().as_bytes())).await?;
        Ok(held.map_or(0, |(held,)| kept(held)))
    }
}

/// Whether a key's period is over for good: its fence is read where its counter would begin, under the lock of a writer.
pub(super) async fn is_over(link: &mut Link, key: &Key) -> Result<bool, Fault> {
    let Some(own) = Advanced::fence(key) else { return Ok(false) };
    Ok(Fence { fence: &own }.run(link).await? >= own.to)
}
