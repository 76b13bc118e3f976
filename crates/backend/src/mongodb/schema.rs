//! MongoDB collections: creation, validation and identity.

use std::sync::Arc;

use mongodb::bson::{Bson, Document, doc};

use super::{
    collection::{Collection, Identity, first_batch, write_concern},
    fault::{DUPLICATE_KEY, NAMESPACE_EXISTS},
    pinned_connection::PinnedConnection,
};
use crate::net::{Fault, Purpose, ServerOptions, missing};

/// The collection of cells: one document per key.
pub(super) const CELLS: &str = "sequent_cells";
/// The collection with one document: kind, version, stamp and mark. Created last.
pub(super) const SHARD: &str = "sequent_shard";
/// The `_id` of that document.
pub(super) const ONE: &str = "shard";

/// The version of the collections' contents.
const SCHEMA_VERSION: i32 = 1;

/// The UUIDs of the two collections, if they exist.
struct Found {
    cells: Option<Identity>,
    shard: Option<Identity>,
}

/// Creates missing collections, if allowed; returns the UUID of the collection of cells.
pub(super) async fn settle(
    pinned: &Arc<PinnedConnection>,
    options: &ServerOptions,
    purpose: Purpose,
) -> Result<Identity, Fault> {
    let found = look(pinned).await?;
    let cells = match found {
        Found { cells: Some(cells), shard: Some(_) } => cells,
        _ if !purpose.creates(options) => return Err(missing("collections", purpose)),
        Found { cells: None, shard: Some(_) } => {
            let cause = format!(
                "collection {CELLS} is gone, and {SHARD} is there: restore it; if it is lost for good, drop {SHARD} as well"
            );
            return Err(Fault::refused(cause));
        }
        Found { shard: None, .. } => {
            make(pinned).await?;
            let made = look(pinned).await?.cells;
            made.ok_or_else(|| Fault::refused(format!("collection {CELLS} was made, and is not there")))?
        }
    };
    recognise(pinned).await?;
    Ok(cells)
}

/// The current UUID of the collection of cells.
pub(super) async fn identity(pinned: &Arc<PinnedConnection>) -> Result<Option<Identity>, Fault> {
    Ok(look(pinned).await?.cells)
}

async fn look(pinned: &Arc<PinnedConnection>) -> Result<Found, Fault> {
    let filter = doc! { "name": { "$in": [CELLS, SHARD] } };
    let reply = pinned.run(doc! { "listCollections": 1, "filter": filter }).await?;
    let mut found = Found { cells: None, shard: None };
    for collection in first_batch(&reply)? {
        let (Ok(name), Ok(kind)) = (collection.get_str("name"), collection.get_str("type")) else { continue };
        if kind != "collection" {
            return Err(Fault::refused(format!("{name} is a {kind}, expected a collection")));
        }
        let info = collection.get_document("info").ok();
        let identity = match info.and_then(|info| info.get("uuid")) {
            Some(Bson::Binary(identity)) => identity.clone(),
            _ => return Err(Fault::refused(format!("collection {name} bears no identity (info.uuid)"))),
        };
        let place = if name == CELLS { &mut found.cells } else { &mut found.shard };
        *place = Some(identity);
    }
    Ok(found)
}

async fn make(pinned: &Arc<PinnedConnection>) -> Result<(), Fault> {
    match pinned.run(doc! { "create": CELLS, "writeConcern": write_concern() }).await {
        Err(fault) if fault.is(NAMESPACE_EXISTS) => {}
        done => drop(done?),
    }
    let one = doc! { "_id": ONE, "kind": "store", "schema_version": SCHEMA_VERSION, "mark": 0_i64 };
    match Collection::named(pinned, SHARD).insert(one).await {
        // Another client was faster.
        Err(fault) if fault.is(DUPLICATE_KEY) => Ok(()),
        done => done,
    }
}

/// Reads the shard's own document.
pub(super) async fn read_shard(shard: &Collection) -> Result<Document, Fault> {
    shard.find(doc! { "_id": ONE }).await?.ok_or_else(lacks_shard)
}

/// The fault if the shard's own document is missing.
pub(super) fn lacks_shard() -> Fault {
    Fault::refused(format!("collection {SHARD} lacks its document: restore it"))
}

/// Fails for collections of another kind or version.
async fn recognise(pinned: &Arc<PinnedConnection>) -> Result<(), Fault> {
    let one = read_shard(&Collection::named(pinned, SHARD)).await?;
    let kind = one.get_str("kind").unwrap_or("nobody");
    let version = one.get_i32("schema_version").unwrap_or_default();
    if kind != "store" || version != SCHEMA_VERSION {
        let cause =
            format!("{SHARD} is a {kind}'s of version {version}, expected a store's of {SCHEMA_VERSION}");
        return Err(Fault::refused(cause));
    }
    Ok(())
}
