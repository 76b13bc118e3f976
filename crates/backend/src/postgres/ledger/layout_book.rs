//! The layout in force.

use sequent_core::{
    BoxFuture, ErrorKind, Layout, SourceError,
    ledger::{LayoutBook, LayoutRecord},
};
use sqlx::{query, query_as};

use super::{PostgresLedger, capped, kept, pass::lock, small};
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
        Box::pin(self.database.perform(Found { first }))
    }
}

struct Read;

impl Work for Read {
    type Out = Option<LayoutRecord>;
    const VERB: &'static str = "read the layout from";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Option<LayoutRecord>, Fault> {
        read(link).await
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
        lock(link).await?;
        if let Some(held) = read(link).await? {
            return Ok(held);
        }
        let LayoutRecord { cluster, layout, epoch } = self.first;
        let sql =
            "INSERT INTO layout (one, cluster, shard_bits, memory_bits, epoch) VALUES (1, $1, $2, $3, $4)";
        let query = query(sql).bind(cluster.as_str());
        let query = query.bind(i32::from(layout.shard_bits())).bind(i32::from(layout.memory_bits()));
        link.session().run(query.bind(capped(*epoch))).await?;
        Ok(self.first.clone())
    }
}

async fn read(link: &mut Link) -> Result<Option<LayoutRecord>, Fault> {
    let sql = "SELECT cluster, shard_bits, memory_bits, epoch FROM layout";
    let row: Option<(String, i32, i32, i64)> = link.session().row(query_as(sql)).await?;
    let Some((cluster, shard_bits, memory_bits, epoch)) = row else { return Ok(None) };
    let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
        SourceError::new(ErrorKind::Refused, "layout in the ledger").because(error)
    };
    let cluster = cluster.parse().map_err(|error: sequent_core::NameError| unreadable(error.into()))?;
    let bits = (small("shard_bits", shard_bits)?, small("memory_bits", memory_bits)?);
    let layout = Layout::new(bits.0, bits.1).map_err(|error| unreadable(error.into()))?;
    Ok(Some(LayoutRecord { cluster, layout, epoch: kept(epoch) }))
}
