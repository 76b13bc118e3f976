//! The layout in force.

use sequent_core::{
    BoxFuture, ErrorKind, Layout, SourceError,
    ledger::{LayoutBook, LayoutRecord},
};

use super::{
    MysqlLedger, capped, kept,
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
        Box::pin(self.pool.perform(Found { first }))
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
        hold(link, Hold::Write).await?;
        if let Some(held) = read(link).await? {
            return Ok(held);
        }
        let LayoutRecord { cluster, layout, epoch } = self.first;
        let sql = "INSERT INTO sequent_layout (one, cluster, shard_bits, memory_bits, epoch) VALUES (1, ?, ?, ?, ?)";
        let bits = (layout.shard_bits(), layout.memory_bits());
        link.exec(sql, (cluster.as_str(), bits.0, bits.1, capped(*epoch))).await?;
        Ok(self.first.clone())
    }
}

async fn read(link: &mut Link) -> Result<Option<LayoutRecord>, Fault> {
    let sql = "SELECT cluster, shard_bits, memory_bits, epoch FROM sequent_layout";
    let row: Option<(String, u8, u8, i64)> = link.row(sql, ()).await?;
    let Some((cluster, shard_bits, memory_bits, epoch)) = row else { return Ok(None) };
    let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
        SourceError::new(ErrorKind::Refused, "layout in the ledger").because(error)
    };
    let cluster = cluster.parse().map_err(|error: sequent_core::NameError| unreadable(error.into()))?;
    let layout = Layout::new(shard_bits, memory_bits).map_err(|error| unreadable(error.into()))?;
    Ok(Some(LayoutRecord { cluster, layout, epoch: kept(epoch) }))
}
