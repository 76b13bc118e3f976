//! The page of the layout.

use sequent_core::{
    BoxFuture, Layout, SourceError,
    ledger::{LayoutBook, LayoutPage, LayoutRecord, Rebased, other_page},
};
use serde::{Deserialize, Serialize};

use super::{
    EtcdLedger,
    kept::Losses,
    rebase::Rebase,
    transact::{Change, Step, look, transact},
};
use crate::{
    etcd::{
        gateway::{Kv, Op, Span},
        link::Link,
        value::{self, or_default, unreadable},
    },
    wire::{Fault, Work},
};

impl LayoutBook for EtcdLedger {
    fn layout(&self) -> BoxFuture<'_, Result<Option<LayoutRecord>, SourceError>> {
        Box::pin(self.pool.perform(Read))
    }

    fn found<'a>(&'a self, first: &'a LayoutRecord) -> BoxFuture<'a, Result<LayoutRecord, SourceError>> {
        Box::pin(self.pool.perform(Found { first }))
    }

    fn page(&self) -> BoxFuture<'_, Result<Option<LayoutPage>, SourceError>> {
        Box::pin(self.pool.perform(ReadPage))
    }

    fn turn<'a>(
        &'a self,
        held: &'a LayoutPage,
        new: &'a LayoutPage,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(Turn { held, new }))
    }

    fn rebase<'a>(
        &'a self,
        held: &'a LayoutPage,
        keys: &'a [Rebased],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(Rebase { held, keys }))
    }
}

/// The page as it is kept.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptPage {
    cluster: String,
    shard_bits: u32,
    memory_bits: u32,
    pub(super) epoch: u64,
    /// Shard bits and memory bits of the layout to come.
    next: Option<(u32, u32)>,
    is_fenced: bool,
}

impl KeptPage {
    fn of(page: &LayoutPage) -> Self {
        let LayoutPage { cluster, layout, epoch, next, is_fenced } = page;
        let bits = |layout: &Layout| (u32::from(layout.shard_bits()), u32::from(layout.memory_bits()));
        let ((shard_bits, memory_bits), cluster) = (bits(layout), cluster.as_str().to_owned());
        Self {
            cluster,
            shard_bits,
            memory_bits,
            epoch: *epoch,
            next: next.as_ref().map(bits),
            is_fenced: *is_fenced,
        }
    }
}

/// The page that a name holds.
pub(super) fn page(kv: &Kv) -> Result<LayoutPage, SourceError> {
    let KeptPage { cluster, shard_bits, memory_bits, epoch, next, is_fenced } = value::of("layout", kv)?;
    let layout = |(shard_bits, memory_bits): (u32, u32)| {
        let (Ok(shard_bits), Ok(memory_bits)) = (shard_bits.try_into(), memory_bits.try_into()) else {
            return Err(unreadable("layout"));
        };
        Layout::new(shard_bits, memory_bits).map_err(|error| unreadable("layout").because(error))
    };
    let cluster = cluster.parse();
    let cluster = cluster.map_err(|error: sequent_core::NameError| unreadable("layout").because(error))?;
    let next = next.map(layout).transpose()?;
    Ok(LayoutPage { cluster, layout: layout((shard_bits, memory_bits))?, epoch, next, is_fenced })
}

pub(super) struct Read;

impl Work<Link> for Read {
    type Out = Option<LayoutRecord>;
    const VERB: &'static str = "read the layout from";

    async fn run(&self, link: &mut Link) -> Result<Option<LayoutRecord>, Fault> {
        Ok(ReadPage.run(link).await?.as_ref().map(LayoutPage::record).transpose()?)
    }
}

struct ReadPage;

impl Work<Link> for ReadPage {
    type Out = Option<LayoutPage>;
    const VERB: &'static str = "read the layout's page from";

    async fn run(&self, link: &mut Link) -> Result<Option<LayoutPage>, Fault> {
        let reads = vec![Op::Read(Span::one(link.names().only("layout")))];
        Ok(look(link, reads).await?.one().as_ref().map(page).transpose()?)
    }
}

struct Found<'a> {
    first: &'a LayoutRecord,
}

impl Work<Link> for Found<'_> {
    type Out = LayoutRecord;
    const VERB: &'static str = "found the layout in";

    async fn run(&self, link: &mut Link) -> Result<LayoutRecord, Fault> {
        let name = link.names().only("layout");
        let reads = [Op::Read(Span::one(name.clone()))];
        let (held, _) = transact(link, &reads, |mut answers| {
            if let Some(kv) = answers.one() {
                return Ok(Step::Done(page(&kv)?.record()?));
            }
            let first = value::text(&KeptPage::of(&LayoutPage::of(self.first)));
            let ops = vec![Op::Put(name.clone(), first)];
            Ok(Step::Write(Change { unchanged: vec![(name.clone(), 0)], ops }, self.first.clone()))
        })
        .await?;
        Ok(held)
    }
}

struct Turn<'a> {
    held: &'a LayoutPage,
    new: &'a LayoutPage,
}

impl Work<Link> for Turn<'_> {
    type Out = u64;
    const VERB: &'static str = "turn the layout's page in";

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let names = link.names();
        let parts = ["layout", "version", "losses"].map(|what| names.only(what));
        let reads: Vec<Op> = parts.iter().cloned().map(Span::one).map(Op::Read).collect();
        let (version, _) = transact(link, &reads, |mut answers| {
            let found = [answers.one(), answers.one(), answers.one()];
            expect(found[0].as_ref(), self.held)?;
            let (version, _): (u64, _) = or_default("version", found[1].as_ref())?;
            let next = version.saturating_add(1);
            let mut ops = vec![
                Op::Put(parts[0].clone(), value::text(&KeptPage::of(self.new))),
                Op::Put(parts[1].clone(), next.to_string()),
            ];
            if let Some(change) = self.held.settles(self.new) {
                let (losses, _): (Losses, _) = or_default("losses", found[2].as_ref())?;
                let floor = losses.floor.max(change.turned(losses.floor));
                ops.push(Op::Put(parts[2].clone(), value::text(&Losses { floor, ..losses })));
                ops.push(Op::Delete(Span::under(names.stores())));
            }
            let revisions = found.iter().map(|kv| kv.as_ref().map_or(0, |kv| kv.mod_revision));
            let unchanged = parts.iter().cloned().zip(revisions).collect();
            Ok(Step::Write(Change { unchanged, ops }, next))
        })
        .await?;
        Ok(version)
    }
}

/// Refuses another page than `held`.
pub(super) fn expect(found: Option<&Kv>, held: &LayoutPage) -> Result<(), SourceError> {
    let found = found.map(page).transpose()?;
    if found.as_ref() == Some(held) { Ok(()) } else { Err(other_page(found.as_ref(), held)) }
}
