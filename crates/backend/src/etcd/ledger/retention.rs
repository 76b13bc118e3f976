//! Periods that are over: fences, and counters that are forgotten.

use sequent_core::{
    BoxFuture, Key, SlotIndex, SourceError,
    ledger::{Advanced, Counter, Retention},
};

use super::{
    EtcdLedger,
    advances::Advance,
    page::OPS_MAX,
    rows::scan,
    transact::{Change, Step, look, transact},
};
use crate::{
    etcd::{
        gateway::{Op, Span},
        link::Link,
        value::{or_default, unreadable},
    },
    wire::{Fault, Work},
};

/// Keys of one page of a list.
const PAGE: usize = 1000;

/// How many counters one transaction forgets: a row, its history and its advance each, beside the version.
const FORGOTTEN_MAX: usize = (OPS_MAX - 2) / 3;

impl Retention for EtcdLedger {
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

impl Work<Link> for Keys<'_> {
    type Out = Vec<Key>;
    const VERB: &'static str = "list keys of";

    async fn run(&self, link: &mut Link) -> Result<Vec<Key>, Fault> {
        let (names, rows) = (link.names(), link.names().rows_of(self.slot));
        let span = Span::one(format!("{rows}{}", self.from)).to(format!("{rows}{}", self.below));
        let found = scan(link, span, self.most, PAGE).await?;
        let key = |name: &str| names.counter(name).map(|counter| counter.key);
        let keys = found.iter().map(|kv| key(kv.name()?).ok_or_else(|| unreadable("name of a row")));
        Ok(keys.collect::<Result<_, SourceError>>()?)
    }
}

struct Forget<'a> {
    fence: &'a Advanced,
    counters: &'a [Counter],
}

impl Work<Link> for Forget<'_> {
    type Out = u64;
    const VERB: &'static str = "forget counters of";

    /// The fence first; each transaction after it rests on the fence being there.
    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let held = Advance { advanced: self.fence }.run(link).await?;
        let names = link.names();
        for counters in self.counters.chunks(FORGOTTEN_MAX) {
            let rows = counters.iter().map(|counter| names.row(counter)).collect();
            let more = counters.iter().flat_map(|counter| {
                let (past, advance) = (names.past(counter), names.advance(&counter.key));
                [Op::Delete(Span::under(past)), Op::Delete(Span::one(advance))]
            });
            forget(link, self.fence, (rows, more.collect())).await?;
        }
        Ok(held)
    }
}

/// Forgets rows, and what is held beside them.
async fn forget(
    link: &mut Link,
    fence: &Advanced,
    (rows, more): (Vec<String>, Vec<Op>),
) -> Result<(), Fault> {
    let names = link.names();
    let (version, own) = (names.only("version"), names.advance(&fence.key));
    let only = [version.clone(), own.clone()].map(|name| Op::Read(Span::one(name)));
    let found = rows.iter().map(|row| Op::Read(Span::one(row.clone())));
    let reads: Vec<Op> = only.into_iter().chain(found).collect();
    let done = transact(link, &reads, |mut answers| {
        let (at, revision): (u64, _) = or_default("version", answers.one().as_ref())?;
        let (held, own_revision): (u64, _) = or_default("advance", answers.one().as_ref())?;
        let any = rows.iter().fold(false, |any, _| answers.one().is_some() || any);
        if held < fence.to {
            return Err(Fault::refused("the ledger went back while it forgot: its fence is gone"));
        }
        if !any {
            return Ok(Step::Done(()));
        }
        let unchanged = vec![(version.clone(), revision), (own.clone(), own_revision)];
        let mut ops = vec![Op::Put(version.clone(), at.saturating_add(1).to_string())];
        ops.extend(rows.iter().map(|row| Op::Delete(Span::one(row.clone()))));
        ops.extend(more.iter().cloned());
        Ok(Step::Write(Change { unchanged, ops }, ()))
    });
    done.await.map(|((), _)| ())
}

struct DenseKeys<'a> {
    from: &'a str,
    below: &'a str,
    most: usize,
}

impl Work<Link> for DenseKeys<'_> {
    type Out = Vec<Key>;
    const VERB: &'static str = "list dense keys of";

    async fn run(&self, link: &mut Link) -> Result<Vec<Key>, Fault> {
        let all = link.names().all_dense();
        let span = Span::one(format!("{all}{}", self.from)).to(format!("{all}{}", self.below));
        let found = scan(link, span, self.most, PAGE).await?;
        let key = |name: &str| name.strip_prefix(&all).map(Key::from_stored);
        let keys =
            found.iter().map(|kv| key(kv.name()?).ok_or_else(|| unreadable("name of a dense counter")));
        Ok(keys.collect::<Result<_, SourceError>>()?)
    }
}

struct ForgetDense<'a> {
    fence: &'a Advanced,
    keys: &'a [Key],
}

impl Work<Link> for ForgetDense<'_> {
    type Out = u64;
    const VERB: &'static str = "forget dense counters of";

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let held = Advance { advanced: self.fence }.run(link).await?;
        let names = link.names();
        for keys in self.keys.chunks(FORGOTTEN_MAX) {
            let rows = keys.iter().map(|key| names.dense(key)).collect();
            let more = keys.iter().map(|key| Op::Delete(Span::one(names.advance(key)))).collect();
            forget(link, self.fence, (rows, more)).await?;
        }
        Ok(held)
    }
}

struct Fence<'a> {
    fence: &'a Advanced,
}

impl Work<Link> for Fence<'_> {
    type Out = u64;
    const VERB: &'static str = "read a fence of";

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let own = link.names().advance(&self.fence.key);
        let mut answers = look(link, vec![Op::Read(Span::one(own))]).await?;
        Ok(or_default("advance", answers.one().as_ref())?.0)
    }
}
