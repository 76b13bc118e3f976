//! Identity, stamp and mark of a MongoDB store, in one document beside the cells.

use mongodb::bson::{Bson, Document, doc};
use sequent_core::{Durability, DurabilityClass, Inspection};

use crate::{
    mongodb::{
        connection::Connection,
        hello::Hello,
        schema::{ONE, SHARD, lacks_shard},
    },
    net::{Connection as _, Fault},
    store::{StoreConnection, other_stamp, parse_stamp},
};

impl StoreConnection for Connection {
    async fn inspect(&mut self) -> Result<Inspection, Fault> {
        let hello = self.hello().await?;
        if !self.instance().as_str().contains(&hello.process) {
            return Err(Fault::stale(format!("{} answers now", hello.process)));
        }
        self.check_collection().await?;
        let shard = raised_shard(self, 0).await?;
        inspection(self, &hello, &shard).await
    }

    async fn swap_stamp(&mut self, expected: Option<&str>, new: &str) -> Result<(), Fault> {
        self.check_collection().await?;
        // Null matches a missing field.
        let query = doc! { "_id": ONE, "stamp": expected };
        if self.shard.change(query, doc! { "$set": { "stamp": new } }).await?.is_some() {
            return Ok(());
        }
        let found = raised_shard(self, 0).await?;
        Err(other_stamp(stamp_of(&found)?, expected).into())
    }

    async fn mark(&mut self, version: u64) -> Result<u64, Fault> {
        mark_of(&raised_shard(self, version).await?)
    }
}

/// The inspection of a store with this document.
pub(super) async fn inspection(
    connection: &Connection,
    hello: &Hello,
    shard: &Document,
) -> Result<Inspection, Fault> {
    Ok(Inspection {
        instance: connection.instance().clone(),
        stamp: parse_stamp(stamp_of(shard)?)?,
        has_cells: connection.cells.find(Document::new()).await?.is_some(),
        durability: durability(),
        clock_ms: hello.clock_ms,
        version: connection.version().await?,
    })
}

/// The write concern of every write; a server fulfils it or refuses the write.
fn durability() -> Durability {
    let settings = [("w", "majority"), ("j", "true")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Durability { class: DurabilityClass::Durable, settings }
}

/// Raises the mark, and returns the shard's document. 0 changes nothing, and the majority still acknowledges it: a
/// server that can't acknowledge writes fails here, and the document is as recent as what a majority has.
async fn raised_shard(connection: &Connection, mark: u64) -> Result<Document, Fault> {
    let update = doc! { "$max": { "mark": mark.cast_signed() } };
    if let Some(shard) = connection.shard.change(doc! { "_id": ONE }, update).await? {
        return Ok(shard);
    }
    connection.check_collection().await?;
    Err(lacks_shard())
}

fn stamp_of(shard: &Document) -> Result<Option<&str>, Fault> {
    match shard.get("stamp") {
        None | Some(Bson::Null) => Ok(None),
        Some(Bson::String(text)) => Ok(Some(text)),
        Some(other) => Err(Fault::refused(format!("{SHARD}'s stamp is {other:?}, expected a text"))),
    }
}

pub(super) fn mark_of(shard: &Document) -> Result<u64, Fault> {
    match shard.get("mark") {
        Some(Bson::Int64(mark)) => Ok(mark.unsigned_abs()),
        other => Err(Fault::refused(format!("{SHARD}'s mark is {other:?}, expected a 64-bit integer"))),
    }
}
