//! The page of the layout.

use sequent_core::{
    BoxFuture, ErrorKind, Layout, Life, SourceError,
    ledger::{Counter, LayoutBook, LayoutPage, LayoutRecord, PastLife, Rebased, Row, other_page},
};

use super::{
    MysqlLedger,
    batch::{self, Sheet},
    capped, kept,
    pass::{Hold, hold},
};
use crate::mysql::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl LayoutBook for MysqlLedger {
    fn layout(&self) -> BoxFuture<'_, Result<Option<LayoutRecord>, SourceError>> {
        Box::pin(self.pool.perform(Read))
    }

    fn found<'a>(&'a self, first: &'a LayoutRecord) -> BoxFuture<'a, Result<LayoutRecord, SourceError>> {
        Box::pin(async move { Ok(self.found_anew(first).await?.0) })
    }

    fn found_anew<'a>(
        &'a self,
        first: &'a LayoutRecord,
    ) -> BoxFuture<'a, Result<(LayoutRecord, bool), SourceError>> {
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

pub(super) struct Read;

impl Work for Read {
    type Out = Option<LayoutRecord>;
    const VERB: &'static str = "read the layout from";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Option<LayoutRecord>, Fault> {
        Ok(page(link).await?.as_ref().map(LayoutPage::record).transpose()?)
    }
}

struct ReadPage;

impl Work for ReadPage {
    type Out = Option<LayoutPage>;
    const VERB: &'static str = "read the layout's page from";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Option<LayoutPage>, Fault> {
        page(link).await
    }
}

struct Found<'a> {
    first: &'a LayoutRecord,
}

impl Work for Found<'_> {
    type Out = (LayoutRecord, bool);
    const VERB: &'static str = "found the layout in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<(LayoutRecord, bool), Fault> {
        hold(link, Hold::Write).await?;
        if let Some(held) = page(link).await? {
            return Ok((held.record()?, false));
        }
        write(link, &LayoutPage::of(self.first)).await?;
        Ok((self.first.clone(), true))
    }
}

struct Turn<'a> {
    held: &'a LayoutPage,
    new: &'a LayoutPage,
}

impl Work for Turn<'_> {
    type Out = u64;
    const VERB: &'static str = "turn the layout's page in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let meta = hold(link, Hold::Write).await?;
        expect(link, self.held).await?;
        if let Some(change) = self.held.settles(self.new) {
            let floor = meta.floor.max(change.turned(meta.floor));
            link.exec("UPDATE sequent_meta SET floor = ? WHERE one = 1", (capped(floor),)).await?;
            link.exec("DELETE FROM sequent_slots", ()).await?;
        }
        if self.new.next.is_some() && !self.new.is_fenced {
            // Who plans shows that it may do all the rest: once the ring is fenced, it would be too late to find out.
            for of_nobody in
                ["DELETE FROM sequent_counters WHERE k = ''", "DELETE FROM sequent_slots WHERE 1 = 0"]
            {
                link.exec(of_nobody, ()).await?;
            }
        }
        write(link, self.new).await?;
        meta.version(link, true).await
    }
}

struct Rebase<'a> {
    held: &'a LayoutPage,
    keys: &'a [Rebased],
}

impl Work for Rebase<'_> {
    type Out = u64;
    const VERB: &'static str = "rebase counters in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let meta = hold(link, Hold::Write).await?;
        expect(link, self.held).await?;
        let Some(change) = self.held.change().filter(|_| self.held.is_fenced) else {
            return Err(other_page(Some(self.held), self.held).into());
        };
        let (mut ended, mut begun) = (Vec::new(), Sheet::new());
        for Rebased { key, bases } in self.keys {
            for (counter, Row { life, base, ceiling, .. }) in batch::rows_of(link, key).await? {
                ended.push((counter, PastLife { life, base, ceiling }));
            }
            link.exec("DELETE FROM sequent_counters WHERE k = ?", (key.as_str(),)).await?;
            for &(slot, base) in bases {
                let row = Row {
                    life: Life::of_epoch(change.next.epoch),
                    store: change.marker(),
                    ledger: meta.speaks.clone(),
                    base,
                    ceiling: base,
                    seen: base,
                    opened_at_ms: meta.clock_ms,
                };
                begun.insert(Counter { slot, key: key.clone() }, row);
            }
        }
        batch::remember(link, &ended).await?;
        batch::write(link, &begun, meta.version + 1).await?;
        meta.version(link, true).await
    }
}

/// Refuses another page than `held`.
async fn expect(link: &mut Link, held: &LayoutPage) -> Result<(), Fault> {
    let found = page(link).await?;
    if found.as_ref() == Some(held) { Ok(()) } else { Err(other_page(found.as_ref(), held).into()) }
}

async fn write(link: &mut Link, page: &LayoutPage) -> Result<(), Fault> {
    let sql = "REPLACE INTO sequent_layout \
        (one, cluster, shard_bits, memory_bits, epoch, next_shard_bits, next_memory_bits, fenced) \
        VALUES (1, ?, ?, ?, ?, ?, ?, ?)";
    let LayoutPage { cluster, layout, epoch, next, is_fenced } = page;
    let (n, m) = (layout.shard_bits(), layout.memory_bits());
    let (next_n, next_m) = (next.map(Layout::shard_bits), next.map(Layout::memory_bits));
    link.exec(sql, (cluster.as_str(), n, m, capped(*epoch), next_n, next_m, *is_fenced)).await?;
    Ok(())
}

type Kept = (String, u8, u8, i64, Option<u8>, Option<u8>, bool);

async fn page(link: &mut Link) -> Result<Option<LayoutPage>, Fault> {
    let sql = "SELECT cluster, shard_bits, memory_bits, epoch, next_shard_bits, next_memory_bits, fenced \
        FROM sequent_layout";
    let row: Option<Kept> = link.row(sql, ()).await?;
    let Some((cluster, n, m, epoch, next_n, next_m, is_fenced)) = row else { return Ok(None) };
    let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
        SourceError::new(ErrorKind::Refused, "layout in the ledger").because(error)
    };
    let cluster = cluster.parse().map_err(|error: sequent_core::NameError| unreadable(error.into()))?;
    let layout = |(n, m)| Layout::new(n, m).map_err(|error| unreadable(error.into()));
    let next = next_n.zip(next_m).map(layout).transpose()?;
    Ok(Some(LayoutPage { cluster, layout: layout((n, m))?, epoch: kept(epoch), next, is_fenced }))
}
