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
        for counters in self.counters.chunks(FORGOTTEN_MAX) {
            forget(link, self.fence, counters).await?;
        }
        Ok(held)
    }
}

async fn forget(link: &mut Link, fence: &Advanced, counters: &[Counter]) -> Result<(), Fault> {
    let names = link.names();
    let (version, own) = (names.only("version"), names.advance(&fence.key));
    let only = [version.clone(), own.clone()].map(|name| Op::Read(Span::one(name)));
    let rows = counters.iter().map(|counter| Op::Read(Span::one(names.row(counter))));
    let reads: Vec<Op> = only.into_iter().chain(rows).collect();
    let done = transact(link, &reads, |mut answers| {
        let (at, revision): (u64, _) = or_default("version", answers.one().as_ref())?;
        let (held, own_revision): (u64, _) = or_default("advance", answers.one().as_ref())?;
        let any = counters.iter().fold(false, |any, _| answers.one().is_some() || any);
        if held < fence.to {
            return Err(Fault::refused("the ledger went back while it forgot: its fence is gone"));
        }
        if !any {
            return Ok(Step::Done(()));
        }
        let unchanged = vec![(version.clone(), revision), (own.clone(), own_revision)];
        let mut ops = vec![Op::Put(version.clone(), at.saturating_add(1).to_string())];
        for counter in counters {
            ops.push(Op::Delete(Span::one(names.row(counter))));
            ops.push(Op::Delete(Span::under(names.past(counter))));
            ops.push(Op::Delete(Span::one(names.advance(&counter.key))));
        }
        Ok(Step::Write(Change { unchanged, ops }, ()))
    });
    done.await.map(|((), _)| ())
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
