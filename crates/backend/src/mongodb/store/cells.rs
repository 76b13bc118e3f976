//! Cell calls of the MongoDB store, each one `findAndModify` of one document. The conformance suite's race test passes
//! on the double.
//!
//! A cell is `{_id: the key's bytes, epoch, open, v}`. The key is bytes, so that no collation folds it. Queries demand
//! 64-bit integers: a number written directly may be a double, which loses the last digits of large values.

use mongodb::bson::{Binary, Bson, Document, doc, spec::BinarySubtype};
use sequent_core::{Block, Epoch, Key};

use super::Documents;
use crate::{
    mongodb::{connection::Connection, fault::DUPLICATE_KEY},
    net::Fault,
    store::{CellRef, CellState, Counting, block, cas::won},
};

impl Counting<Connection> for Documents {
    async fn take(&self, connection: &mut Connection, cell: CellRef<'_>, want: u64) -> Result<Block, Fault> {
        let added = want.cast_signed();
        // The query excludes values whose sum would leave the range.
        let room = i64::MAX - added;
        let mut query = open_cell(cell);
        query.insert("v", doc! { "$type": "long", "$lte": room });
        if let Some(found) = connection.cells.change(query, doc! { "$inc": { "v": added } }).await? {
            return Ok(block(state(&found)?.value, want)?);
        }
        match checked_cell(connection, cell.key).await? {
            Some(state) if cell.counts(Some(state)) && state.value > room.unsigned_abs() => {
                Err(cell.exhausted(want, state.value).into())
            }
            found => Err(cell.regressed(found).into()),
        }
    }

    async fn close(&self, connection: &mut Connection, cell: CellRef<'_>) -> Result<u64, Fault> {
        let epoch = cell.epoch.to_stored();
        let closing = doc! { "$set": { "epoch": epoch, "open": false } };
        if let Some(found) = connection.change_checked(of(cell.key), closing).await? {
            return Ok(state(&found)?.value);
        }
        let mut fresh = of(cell.key);
        fresh.extend(doc! { "epoch": epoch, "open": false, "v": 0_i64 });
        match connection.cells.insert(fresh).await {
            Err(fault) if fault.is(DUPLICATE_KEY) => won(cell, false).map(|()| 0),
            done => done.map(|()| 0),
        }
    }

    async fn install(&self, connection: &mut Connection, cell: CellRef<'_>, base: u64) -> Result<(), Fault> {
        let mut closed = of(cell.key);
        closed.extend(doc! { "epoch": cell.epoch.to_stored(), "open": false });
        let update = doc! { "$max": { "v": base.cast_signed() }, "$set": { "open": true } };
        if connection.cells.change(closed, update).await?.is_some() {
            return Ok(());
        }
        let found = checked_cell(connection, cell.key).await?;
        // The cell may be open for this epoch: an earlier try of this call has done it.
        if cell.counts(found) { Ok(()) } else { Err(cell.regressed(found).into()) }
    }

    async fn lift(&self, connection: &mut Connection, cell: CellRef<'_>, floor: u64) -> Result<u64, Fault> {
        // A floor of 0 changes and writes nothing. The majority still acknowledges it, so that a former primary can't
        // return an old value.
        let update = doc! { "$max": { "v": floor.cast_signed() } };
        match connection.cells.change(open_cell(cell), update).await? {
            Some(found) => Ok(state(&found)?.value),
            None => Err(cell.regressed(checked_cell(connection, cell.key).await?).into()),
        }
    }
}

/// The query for the cell of a key.
pub(super) fn of(key: &Key) -> Document {
    doc! { "_id": Binary { subtype: BinarySubtype::Generic, bytes: key.as_str().as_bytes().to_vec() } }
}

/// The query for a cell that is open for this epoch.
fn open_cell(cell: CellRef<'_>) -> Document {
    let mut query = of(cell.key);
    query.extend(doc! { "epoch": cell.epoch.to_stored(), "open": true });
    query
}

/// The cell found instead of one that a call could change; `Stale` if the collection is another one.
async fn checked_cell(connection: &Connection, key: &Key) -> Result<Option<CellState>, Fault> {
    connection.check_collection().await?;
    connection.cells.find(of(key)).await?.as_ref().map(state).transpose()
}

/// The state of a cell. Only an operator can write a value below zero. No id was taken from it, so it counts as 0.
fn state(found: &Document) -> Result<CellState, Fault> {
    let open = found.get_bool("open").unwrap_or(false);
    match (found.get("epoch"), found.get("v")) {
        (Some(Bson::Int64(epoch)), Some(Bson::Int64(value))) => Ok(CellState {
            epoch: Epoch::from_stored(*epoch),
            open,
            value: u64::try_from(*value).unwrap_or(0),
        }),
        (epoch, value) => Err(Fault::refused(format!(
            "a cell's epoch is {epoch:?}, and its v is {value:?}, expected 64-bit integers: somebody wrote them by hand; \
             write NumberLong"
        ))),
    }
}
