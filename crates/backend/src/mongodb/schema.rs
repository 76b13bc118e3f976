//! MongoDB collections: creation, validation and identity.

use mongodb::bson::{Binary, Bson, Document, doc};
use sequent_core::Condition;

use super::{
    fault::{self, DUPLICATE_KEY, NAMESPACE_EXISTS},
    pinned_connection::PinnedConnection,
};
use crate::net::{Cause, Fault};

/// The collection of cells: one document per key.
pub(super) const CELLS: &str = "sequent_cells";
/// The collection with one document: kind, version, stamp and mark. Created last.
pub(super) const SHARD: &str = "sequent_shard";
/// The `_id` of that document.
pub(super) const ONE: &str = "shard";

/// The version of the collections' contents.
const SCHEMA_VERSION: i32 = 1;

/// Time limit of a write's acknowledgement, in milliseconds. After it, the write has been done, but may be undone.
const ACKNOWLEDGED_WITHIN_MS: i32 = 10_000;

/// The write concern of every write: no crash and no election undoes it.
pub(super) fn write_concern() -> Document {
    doc! { "w": "majority", "j": true, "wtimeout": ACKNOWLEDGED_WITHIN_MS }
}

/// The UUID of the collection of cells. No other collection has the same, whatever its name.
pub(super) type Identity = Binary;

/// The UUIDs of the two collections, if they exist.
struct Found {
    cells: Option<Identity>,
    shard: Option<Identity>,
}

/// Creates missing collections, if allowed; returns the UUID of the collection of cells.
pub(super) async fn settle(
    pinned: &PinnedConnection,
    create: bool,
    is_known: bool,
) -> Result<Identity, Fault> {
    let found = look(pinned).await?;
    let cells = match found {
        Found { cells: Some(cells), shard: Some(_) } => cells,
        _ if is_known || !create => return Err(missing(is_known)),
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
pub(super) async fn identity(pinned: &PinnedConnection) -> Result<Option<Identity>, Fault> {
    Ok(look(pinned).await?.cells)
}

async fn look(pinned: &PinnedConnection) -> Result<Found, Fault> {
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

/// The documents of a command's answer. All answers here fit into the first batch.
pub(super) fn first_batch(reply: &Document) -> Result<Vec<&Document>, Fault> {
    let batch = reply.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch"));
    let batch = batch.map_err(|_| Fault::refused("the server's answer has no cursor.firstBatch"))?;
    Ok(batch.iter().filter_map(Bson::as_document).collect())
}

async fn make(pinned: &PinnedConnection) -> Result<(), Fault> {
    match pinned.run(doc! { "create": CELLS, "writeConcern": write_concern() }).await {
        Err(fault) if fault.is(NAMESPACE_EXISTS) => {}
        done => drop(done?),
    }
    let one = doc! { "_id": ONE, "kind": "store", "schema_version": SCHEMA_VERSION, "mark": 0_i64 };
    match insert(pinned, doc! { "insert": SHARD }, one).await {
        // Another client was faster.
        Err(fault) if fault.is(DUPLICATE_KEY) => Ok(()),
        done => done,
    }
}

/// Inserts one document; `DUPLICATE_KEY` if one with its `_id` exists.
pub(super) async fn insert(
    pinned: &PinnedConnection,
    mut command: Document,
    one: Document,
) -> Result<(), Fault> {
    command.extend(doc! { "documents": [one], "writeConcern": write_concern() });
    let reply = pinned.run(command).await?;
    let errors = reply.get_array("writeErrors").map(Vec::as_slice).unwrap_or_default();
    match errors.first().and_then(Bson::as_document) {
        None if reply.get_i32("n").is_ok_and(|count| count == 1) => Ok(()),
        None => Err(Fault::refused("an insert was answered, and inserted nothing")),
        Some(error) => {
            let text = |name| error.get_str(name).unwrap_or_default();
            Err(fault::of_command(
                error.get_i32("code").unwrap_or_default(),
                text("codeName"),
                text("errmsg"),
            ))
        }
    }
}

/// Reads the shard's own document.
pub(super) async fn shard(pinned: &PinnedConnection) -> Result<Document, Fault> {
    let query = doc! { "find": SHARD, "filter": { "_id": ONE }, "limit": 1, "singleBatch": true };
    let reply = pinned.run(query).await?;
    first_batch(&reply)?.first().map(|found| (*found).clone()).ok_or_else(lacks_shard)
}

/// The fault if the shard's own document is missing.
pub(super) fn lacks_shard() -> Fault {
    Fault::refused(format!("collection {SHARD} lacks its document: restore it"))
}

/// Fails for collections of another kind or version.
async fn recognise(pinned: &PinnedConnection) -> Result<(), Fault> {
    let one = shard(pinned).await?;
    let kind = one.get_str("kind").unwrap_or("nobody");
    let version = one.get_i32("schema_version").unwrap_or_default();
    if kind != "store" || version != SCHEMA_VERSION {
        let cause =
            format!("{SHARD} is a {kind}'s of version {version}, expected a store's of {SCHEMA_VERSION}");
        return Err(Fault::refused(cause));
    }
    Ok(())
}

/// The fault for missing collections that may not be created.
fn missing(is_known: bool) -> Fault {
    let text = if is_known {
        "the collections were dropped while this process used them, and no new ones are made in their place: restore \
         them; if they are lost for good, a `sequent serve` that is started anew makes them, and `sequent rescue SLOT \
         --why TEXT` brings the slot back for those that run"
    } else {
        "no collections are there, and none may be made here: restore them; where there is nothing to restore, a \
         `sequent serve` that is started anew makes them"
    };
    let condition = if is_known { Condition::Removed } else { Condition::NeverMade };
    Fault::refused(Cause::from(text).with(condition))
}
