//! The page of the layout.

use std::collections::BTreeMap;

use sequent_core::{
    BoxFuture, ErrorKind, Layout, Life, SourceError,
    ledger::{Counter, LayoutBook, LayoutPage, LayoutRecord, Rebased, Row, other_page},
};
use sqlx::{query, query_as};

use super::{
    PostgresLedger,
    batch::{remember, write as write_rows},
    capped, kept,
    pass::{lock, version},
    rows::rows_of,
    small,
};
use crate::postgres::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl LayoutBook for PostgresLedger {
    fn layout(&self) -> BoxFuture<'_, Result<Option<LayoutRecord>, SourceError>> {
        Box::pin(self.database.perform(Read))
    }

    fn found<'a>(&'a self, first: &'a LayoutRecord) -> BoxFuture<'a, Result<LayoutRecord, SourceError>> {
        Box::pin(async move { Ok(self.found_anew(first).await?.0) })
    }

    fn found_anew<'a>(
        &'a self,
        first: &'a LayoutRecord,
    ) -> BoxFuture<'a, Result<(LayoutRecord, bool), SourceError>> {
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
    type Out = (LayoutRecord, bool);
    const VERB: &'static str = "found the layout in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<(LayoutRecord, bool), Fault> {
        lock(link).await?;
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
        lock(link).await?;
        expect(link, self.held).await?;
        if let Some(change) = self.held.settles(self.new) {
            let (floor,): (i64,) = link.session().only(query_as("SELECT floor FROM meta")).await?;
            let turned = capped(change.turned(kept(floor)));
            link.session().run(query("UPDATE meta SET floor = GREATEST(floor, $1)").bind(turned)).await?;
            link.session().run(query("DELETE FROM slots")).await?;
        }
        if self.new.next.is_some() && !self.new.is_fenced {
            // Who plans shows that it may do all the rest: once the ring is fenced, it would be too late to find out.
            for of_nobody in ["DELETE FROM counters WHERE false", "DELETE FROM slots WHERE false"] {
                link.session().run(query(of_nobody)).await?;
            }
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
        let speaker = lock(link).await?;
        expect(link, self.held).await?;
        let Some(change) = self.held.change().filter(|_| self.held.is_fenced) else {
            return Err(other_page(Some(self.held), self.held).into());
        };
        let mut begun = BTreeMap::new();
        for Rebased { key, bases } in self.keys {
            let ended = rows_of(link, key).await?;
            let ended: Vec<(&Counter, Row)> =
                ended.iter().map(|(counter, row)| (counter, row.clone())).collect();
            remember(link, &ended).await?;
            link.session()
                .run(query("DELETE FROM counters WHERE k = $1").bind(key.as_str().as_bytes()))
                .await?;
            for &(slot, base) in bases {
                let row = Row {
                    life: Life::of_epoch(change.next.epoch),
                    store: change.marker(),
                    ledger: speaker.incarnation.clone(),
                    base,
                    ceiling: base,
                    seen: base,
                    opened_at_ms: speaker.now_ms,
                };
                begun.insert(Counter { slot, key: key.clone() }, row);
            }
        }
        write_rows(link, &begun.iter().collect()).await?;
        version(link, true).await
    }
}

/// Refuses another page than `held`.
async fn expect(link: &mut Link, held: &LayoutPage) -> Result<(), Fault> {
    let found = page(link).await?;
    if found.as_ref() == Some(held) { Ok(()) } else { Err(other_page(found.as_ref(), held).into()) }
}

async fn write(link: &mut Link, page: &LayoutPage) -> Result<(), Fault> {
    let sql = "INSERT INTO layout \
        (one, cluster, shard_bits, memory_bits, epoch, next_shard_bits, next_memory_bits, fenced) \
        VALUES (1, $1, $2, $3, $4, $5, $6, $7) ON CONFLICT (one) DO UPDATE SET cluster = excluded.cluster, \
            shard_bits = excluded.shard_bits, memory_bits = excluded.memory_bits, epoch = excluded.epoch, \
            next_shard_bits = excluded.next_shard_bits, next_memory_bits = excluded.next_memory_bits, \
            fenced = excluded.fenced";
    let LayoutPage { cluster, layout, epoch, next, is_fenced } = page;
    let bits = |layout: Layout| (i32::from(layout.shard_bits()), i32::from(layout.memory_bits()));
    let ((n, m), next) = (bits(*layout), next.map(bits));
    let query = query(sql).bind(cluster.as_str()).bind(n).bind(m).bind(capped(*epoch));
    let query = query.bind(next.map(|(n, _)| n)).bind(next.map(|(_, m)| m)).bind(*is_fenced);
    link.session().run(query).await?;
    Ok(())
}

type Kept = (String, i32, i32, i64, Option<i32>, Option<i32>, bool);

async fn page(link: &mut Link) -> Result<Option<LayoutPage>, Fault> {
    let sql = "SELECT cluster, shard_bits, memory_bits, epoch, next_shard_bits, next_memory_bits, fenced FROM layout";
    let row: Option<Kept> = link.session().row(query_as(sql)).await?;
    let Some((cluster, n, m, epoch, next_n, next_m, is_fenced)) = row else { return Ok(None) };
    let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
        SourceError::new(ErrorKind::Refused, "layout in the ledger").because(error)
    };
    let cluster = cluster.parse().map_err(|error: sequent_core::NameError| unreadable(error.into()))?;
    let layout = |(n, m)| {
        let (n, m) = (small("shard_bits", n)?, small("memory_bits", m)?);
        Layout::new(n, m).map_err(|error| unreadable(error.into()))
    };
    let next = next_n.zip(next_m).map(layout).transpose()?;
    Ok(Some(LayoutPage { cluster, layout: layout((n, m))?, epoch: kept(epoch), next, is_fenced }))
}
