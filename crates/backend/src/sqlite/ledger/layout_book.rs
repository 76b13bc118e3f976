//! The page of the layout.

use sequent_core::{
    BoxFuture, ErrorKind, Key, Layout, Life, SourceError,
    ledger::{Counter, LayoutBook, LayoutPage, LayoutRecord, Rebased, Row, other_page},
};
use sqlx::{query, query_as};

use super::{
    SqliteLedger, capped, kept,
    lives::{remember, write_one},
    pass::{speaker, version},
    rows::rows_of,
};
use crate::sqlite::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl LayoutBook for SqliteLedger {
    fn layout(&self) -> BoxFuture<'_, Result<Option<LayoutRecord>, SourceError>> {
        Box::pin(self.database.perform(Read))
    }

    fn found<'a>(&'a self, first: &'a LayoutRecord) -> BoxFuture<'a, Result<LayoutRecord, SourceError>> {
        Box::pin(self.database.perform(Found { first }))
    }

    fn page(&self) -> BoxFuture<'_, Result<Option<LayoutPage>, SourceError>> {
        Box::pin(self.database.perform(ReadPage))
    }

    fn turn<'a>(
        &'a self,
        held: &'a LayoutPage,
        new: &'a LayoutPage,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.database.perform(Turn { held, new }))
    }

    fn rebase<'a>(
        &'a self,
        held: &'a LayoutPage,
        keys: &'a [Rebased],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.database.perform(Rebase { held, keys }))
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
    type Out = LayoutRecord;
    const VERB: &'static str = "found the layout in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<LayoutRecord, Fault> {
        if let Some(held) = page(link).await? {
            return Ok(held.record()?);
        }
        write(link, &LayoutPage::of(self.first)).await?;
        Ok(self.first.clone())
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
        hold(link, self.held).await?;
        if let Some(change) = self.held.settles(self.new) {
            let (floor,): (i64,) = link.only(query_as("SELECT floor FROM meta")).await?;
            let turned = change.turned(kept(floor));
            link.run(query("UPDATE meta SET floor = max(floor, ?1)").bind(capped(turned))).await?;
            link.run(query("DELETE FROM slots")).await?;
        }
        write(link, self.new).await?;
        version(link, true).await
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
        hold(link, self.held).await?;
        let Some(change) = self.held.change().filter(|_| self.held.is_fenced) else {
            return Err(other_page(Some(self.held), self.held).into());
        };
        let (ledger, now_ms) = (speaker(link).await?, link.wall_ms());
        for Rebased { key, bases } in self.keys {
            for (counter, ended) in rows_of(link, key).await? {
                remember(link, &counter, &ended).await?;
            }
            link.run(query("DELETE FROM counters WHERE k = ?1").bind(key.as_str())).await?;
            for &(slot, base) in bases {
                let row = Row {
                    life: Life::of_epoch(change.next.epoch),
                    store: change.marker(),
                    ledger: ledger.clone(),
                    base,
                    ceiling: base,
                    seen: base,
                    opened_at_ms: now_ms,
                };
                write_one(link, &Counter { slot, key: Key::clone(key) }, &row).await?;
            }
        }
        version(link, true).await
    }
}

/// Refuses another page than `held`.
async fn hold(link: &mut Link, held: &LayoutPage) -> Result<(), Fault> {
    let found = page(link).await?;
    if found.as_ref() == Some(held) { Ok(()) } else { Err(other_page(found.as_ref(), held).into()) }
}

async fn write(link: &mut Link, page: &LayoutPage) -> Result<(), Fault> {
    let sql = "INSERT OR REPLACE INTO layout \
        (one, cluster, shard_bits, memory_bits, epoch, next_shard_bits, next_memory_bits, fenced) \
        VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let LayoutPage { cluster, layout, epoch, next, is_fenced } = page;
    let query = query(sql).bind(cluster.as_str()).bind(layout.shard_bits()).bind(layout.memory_bits());
    let query =
        query.bind(capped(*epoch)).bind(next.map(Layout::shard_bits)).bind(next.map(Layout::memory_bits));
    link.run(query.bind(*is_fenced)).await?;
    Ok(())
}

type Kept = (String, u8, u8, i64, Option<u8>, Option<u8>, bool);

async fn page(link: &mut Link) -> Result<Option<LayoutPage>, Fault> {
    let sql = "SELECT cluster, shard_bits, memory_bits, epoch, next_shard_bits, next_memory_bits, fenced FROM layout";
    let row: Option<Kept> = link.row(query_as(sql)).await?;
    let Some((cluster, n, m, epoch, next_n, next_m, is_fenced)) = row else { return Ok(None) };
    let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
        SourceError::new(ErrorKind::Refused, "layout in the ledger").because(error)
    };
    let cluster = cluster.parse().map_err(|error: sequent_core::NameError| unreadable(error.into()))?;
    let layout = |(n, m)| Layout::new(n, m).map_err(|error| unreadable(error.into()));
    let next = next_n.zip(next_m).map(layout).transpose()?;
    Ok(Some(LayoutPage { cluster, layout: layout((n, m))?, epoch: kept(epoch), next, is_fenced }))
}
