//! Periods that are over: fences, and counters that are forgotten.

use std::collections::BTreeMap;

use mysql_async::Value;
use sequent_core::{
    BoxFuture, Key, SlotIndex, SourceError,
    ledger::{Advanced, Counter, Retention},
};

use super::{
    MysqlLedger,
    batch::parts,
    catalog::note,
    kept,
    pass::{Hold, hold},
};
use crate::mysql::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Retention for MysqlLedger {
    fn keys_between<'a>(
        &'a self,
        slot: SlotIndex,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>, SourceError>> {
        Box::pin(self.pool.perform(Keys { slot, from, below, most }))
    }

    fn forget<'a>(
        &'a self,
        fence: &'a Advanced,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(Forget { fence, counters }))
    }

    fn dense_between<'a>(
        &'a self,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>, SourceError>> {
        Box::pin(self.pool.perform(DenseKeys { from, below, most }))
    }

    fn forget_dense<'a>(
        &'a self,
        fence: &'a Advanced,
        keys: &'a [Key],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(ForgetDense { fence, keys }))
    }

    fn fence<'a>(&'a self, fence: &'a Advanced) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(Fence { fence }))
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
        let sql =
            "SELECT k FROM sequent_counters WHERE slot = ? AND k >= ? AND k < ? ORDER BY slot, k LIMIT ?";
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<(Vec<u8>,)> = link.rows(sql, (self.slot, self.from, self.below, most)).await?;
        Ok(rows.into_iter().map(|(key,)| Key::from_stored(&String::from_utf8_lossy(&key))).collect())
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
        let meta = hold(link, Hold::Write).await?;
        let held = note(link, self.fence).await?;
        let mut keys: BTreeMap<SlotIndex, Vec<&Key>> = BTreeMap::new();
        for Counter { slot, key } in self.counters {
            keys.entry(*slot).or_default().push(key);
        }
        let mut gone = 0;
        for (slot, keys) in keys {
            for part in parts(&keys) {
                let marks = vec!["?"; part.len()].join(", ");
                let names = || part.iter().map(|key| Value::from(key.as_str()));
                let of_slot = || std::iter::once(Value::from(slot)).chain(names()).collect::<Vec<_>>();
                let sql = format!("DELETE FROM sequent_counters WHERE slot = ? AND k IN ({marks})");
                gone += link.exec(&sql, of_slot()).await?.found;
                let sql = format!("DELETE FROM sequent_history WHERE slot = ? AND k IN ({marks})");
                link.exec(&sql, of_slot()).await?;
                let sql = format!("DELETE FROM sequent_advances WHERE k IN ({marks})");
                link.exec(&sql, names().collect::<Vec<_>>()).await?;
            }
        }
        meta.version(link, gone > 0).await?;
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
        let sql = "SELECT k FROM sequent_dense WHERE k >= ? AND k < ? ORDER BY k LIMIT ?";
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        let rows: Vec<(Vec<u8>,)> = link.rows(sql, (self.from, self.below, most)).await?;
        Ok(rows.into_iter().map(|(key,)| Key::from_stored(&String::from_utf8_lossy(&key))).collect())
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
        let meta = hold(link, Hold::Write).await?;
        let held = note(link, self.fence).await?;
        let mut gone = 0;
        for part in parts(self.keys) {
            let marks = vec!["?"; part.len()].join(", ");
            let names = || part.iter().map(|key| Value::from(key.as_str())).collect::<Vec<_>>();
            let sql = format!("DELETE FROM sequent_dense WHERE k IN ({marks})");
            gone += link.exec(&sql, names()).await?.found;
            let sql = format!("DELETE FROM sequent_advances WHERE k IN ({marks})");
            link.exec(&sql, names()).await?;
        }
        meta.version(link, gone > 0).await?;
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
        let sql = "SELECT number FROM sequent_advances WHERE k = ?";
        let held: Option<(i64,)> = link.row(sql, (self.fence.key.as_str(),)).await?;
        Ok(held.map_or(0, |(held,)| kept(held)))
    }
}

/// Whether a key's period is over for good: its fence is read where its counter would begin, under the lock of a writer.
pub(super) async fn is_over(link: &mut Link, key: &Key) -> Result<bool, Fault> {
    let Some(own) = Advanced::fence(key) else { return Ok(false) };
    Ok(Fence { fence: &own }.run(link).await? >= own.to)
}
