//! How far operators have advanced keys.

use sequent_core::{Key, SourceError, ledger::Advanced};

use super::{
    rows::scan,
    transact::{Change, Step, transact},
};
use crate::{
    etcd::{
        gateway::{Op, Span},
        link::Link,
        value::{self, or_default, unreadable},
    },
    wire::{Fault, Work},
};

/// Notes read at once.
const PAGE: usize = 1000;

pub(super) struct ReadAdvanced;

impl Work<Link> for ReadAdvanced {
    type Out = Vec<Advanced>;
    const VERB: &'static str = "read how far keys were advanced from";

    async fn run(&self, link: &mut Link) -> Result<Vec<Advanced>, Fault> {
        let all = link.names().advances();
        let found = scan(link, Span::under(all.clone()), usize::MAX, PAGE).await?;
        let notes = found.iter().map(|kv| {
            let key = kv.name()?.strip_prefix(&all).ok_or_else(|| unreadable("name of an advance"))?;
            Ok(Advanced { key: Key::from_stored(key), to: value::of("advance", kv)? })
        });
        Ok(notes.collect::<Result<_, SourceError>>()?)
    }
}

pub(super) struct Advance<'a> {
    pub(super) advanced: &'a Advanced,
}

impl Work<Link> for Advance<'_> {
    type Out = u64;
    const VERB: &'static str = "note how far a key is advanced in";

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let names = link.names();
        let Advanced { key, to } = self.advanced;
        let (catalog, own) = (names.only("catalog"), names.advance(key));
        let reads = [catalog.clone(), own.clone()].map(|name| Op::Read(Span::one(name)));
        let (held, _) = transact(link, &reads, |mut answers| {
            let (version, revision): (u64, _) = or_default("catalog", answers.one().as_ref())?;
            let (held, own_revision): (u64, _) = or_default("advance", answers.one().as_ref())?;
            if *to <= held {
                return Ok(Step::Done(held));
            }
            let unchanged = vec![(catalog.clone(), revision), (own.clone(), own_revision)];
            let next = version.saturating_add(1).to_string();
            let ops = vec![Op::Put(own.clone(), to.to_string()), Op::Put(catalog.clone(), next)];
            Ok(Step::Write(Change { unchanged, ops }, *to))
        })
        .await?;
        Ok(held)
    }
}
