//! Periods that are over: fences, and counters that are forgotten.

use sequent_core::{
    BoxFuture, Key, SlotIndex, SourceError,
    ledger::{Advanced, Counter, Retention},
};
use sqlx::{query, query_as};

use super::{SqliteLedger, catalog::note, kept, pass::version};
use crate::sqlite::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Retention for SqliteLedger {
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
        let sql = "SELECT k FROM counters WHERE slot = ?1 AND k >= ?2 AND k < ?3 ORDER BY k LIMIT ?4";
        let query = query_as(sql).bind(self.slot).bind(self.from).bind(self.below);
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<(String,)> = link.rows(query.bind(most)).await?;
        Ok(rows.into_iter().map(|(key,)| Key::from_stored(&key)).collect())
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
        let held = note(link, self.fence).await?;
        let mut gone = 0;
        for Counter { slot, key } in self.counters {
            let key = key.as_str();
            gone += link
                .run(query("DELETE FROM counters WHERE slot = ?1 AND k = ?2").bind(*slot).bind(key))
                .await?;
            link.run(query("DELETE FROM history WHERE k = ?1 AND slot = ?2").bind(key).bind(*slot)).await?;
            link.run(query("DELETE FROM advances WHERE k = ?1").bind(key)).await?;
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
        let sql = "SELECT k FROM dense WHERE k >= ?1 AND k < ?2 ORDER BY k LIMIT ?3";
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<(String,)> =
            link.rows(query_as(sql).bind(self.from).bind(self.below).bind(most)).await?;
        Ok(rows.into_iter().map(|(key,)| Key::from_stored(&key)).collect())
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
        let held = note(link, self.fence).await?;
        let mut gone = 0;
        for key in self.keys {
            gone += link.run(query("DELETE FROM dense WHERE k = ?1").bind(key.as_str())).await?;
            link.run(query("DELETE FROM advances WHERE k = ?1").bind(key.as_str())).await?;
        }
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
        let query = query_as("SELECT number FROM advances WHERE k = ?1").bind(self.fence.key.as_str());
        Ok(link.row::<(i64,)>(query).await?.map_or(0, |(held,)| kept(held)))
    }
}

/// Whether a key's period is over for good: its fence is read where its counter would begin, under the lock of a writer.
pub(super) async fn is_over(link: &mut Link, key: &Key) -> Result<bool, Fault> {
    let Some(own) = Advanced::fence(key) else { return Ok(false) };
    Ok(Fence { fence: &own }.run(link).await? >= own.to)
}
