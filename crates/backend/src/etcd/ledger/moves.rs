//! What calls have moved, by version.

use std::collections::BTreeMap;

use sequent_core::{
    Incarnation, SourceError,
    ledger::{Counter, Moved},
};

use super::{
    admit::{reborn_unless, speaker},
    kept::KeptMove,
    transact::look,
};
use crate::{
    etcd::{
        gateway::{Kv, Op, Span},
        link::Link,
        names::Names,
        value::{self, unreadable},
    },
    wire::{Fault, Work},
};

/// Versions read at once: each names some hundred rows at most.
const PAGE: u64 = 64;

pub(super) struct Moves<'a> {
    pub(super) under: &'a Incarnation,
    pub(super) since: u64,
    pub(super) most: usize,
}

impl Work<Link> for Moves<'_> {
    type Out = Vec<Moved>;
    const VERB: &'static str = "read what moved in";

    async fn run(&self, link: &mut Link) -> Result<Vec<Moved>, Fault> {
        let (voice, names) = (link.voice(), link.names());
        let mut latest: BTreeMap<Counter, Moved> = BTreeMap::new();
        let mut since = self.since;
        loop {
            let from = names.moves_of(since.saturating_add(1));
            let span = Span::under(names.moves()).from(from).most(PAGE);
            let reads = vec![Op::Read(Span::one(names.only("run"))), Op::Read(span)];
            let mut answers = look(link, reads).await?;
            reborn_unless(&speaker(voice, answers.one().as_ref())?, self.under)?;
            let page = answers.all();
            for kv in &page.kvs {
                since = take(&names, kv, &mut latest)?;
            }
            if !page.more || latest.len() >= self.most {
                break;
            }
        }
        let mut moved: Vec<Moved> = latest.into_values().collect();
        moved.sort_by_key(|moved| moved.version);
        moved.truncate(self.most);
        Ok(moved)
    }
}

/// Notes what one version moved, over what was moved before; returns the version.
fn take(names: &Names, kv: &Kv, latest: &mut BTreeMap<Counter, Moved>) -> Result<u64, SourceError> {
    let version = names.version(kv.name()?).ok_or_else(|| unreadable("version of what moved"))?;
    for kept in value::of::<Vec<KeptMove>>("what moved", kv)? {
        let moved = kept.moved(names, version)?;
        latest.insert(moved.counter.clone(), moved);
    }
    Ok(version)
}
