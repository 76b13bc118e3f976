//! Cell calls of the MongoDB store, each one `findAndModify` of one document. The conformance suite's race test passes
//! on the double.
//!
//! A cell is `{_id: the key's bytes, epoch, open, v}`. The key is bytes, so that no collation folds it. Queries demand
//! 64-bit integers: a number written directly may be a double, which loses the last digits of large values.

use mongodb::bson::{Binary, Bson, Document, doc, spec::BinarySubtype};
use sequent_core::{Block, Epoch, ErrorKind, Key};

use crate::{
    mongodb::{connection::Connection, fault::DUPLICATE_KEY},
    net::Fault,
    store::{CellState, block, regressed},
};

/// The most tries of a close whose cell others create and delete meanwhile.
const CLOSE_TRIES_MAX: usize = 4;

pub(super) async fn take(
    connection: &Connection,
    key: &Key,
    epoch: Epoch,
    want: u64,
) -> Result<Block, Fault> {
    let added = want.cast_signed();
    // The query excludes values whose sum would leave the range.
    let room = i64::MAX - added;
    let mut query = open_cell(key, epoch);
    query.insert("v", doc! { "$type": "long", "$lte": room });
    if let Some(found) = connection.change_cell(query, doc! { "$inc": { "v": added } }).await? {
        return Ok(block(state(&found)?.value, want)?);
    }
    let found = checked_cell(connection, key).await?;
    let full = found.filter(|found| found.counts_for(epoch) && found.value > room.unsigned_abs());
    let Some(CellState { value, .. }) = full else { return Err(regressed(key, epoch, found).into()) };
    let context = format!("{key}: {want} more than {value} is above {}", Block::NUMBER_MAX);
    Err(Fault::answer(ErrorKind::Exhausted, context))
}

pub(super) async fn close(connection: &Connection, key: &Key, next: Epoch) -> Result<u64, Fault> {
    let epoch = next.to_stored();
    for _ in 0..CLOSE_TRIES_MAX {
        let closing = doc! { "$set": { "epoch": epoch, "open": false } };
        if let Some(found) = connection.change_cell_checked(of(key), closing).await? {
            return Ok(state(&found)?.value);
        }
        let fresh = doc! { "_id": id(key), "epoch": epoch, "open": false, "v": 0_i64 };
        match connection.insert_cell(fresh).await {
            // Another client's close was first.
            Err(fault) if fault.is(DUPLICATE_KEY) => {}
            done => return done.map(|()| 0),
        }
    }
    let context = format!("{key}: made and gone {CLOSE_TRIES_MAX} times");
    Err(Fault::answer(ErrorKind::Contended, context))
}

pub(super) async fn install(
    connection: &Connection,
    key: &Key,
    epoch: Epoch,
    base: u64,
) -> Result<(), Fault> {
    let mut closed = of(key);
    closed.extend(doc! { "epoch": epoch.to_stored(), "open": false });
    let update = doc! { "$max": { "v": base.cast_signed() }, "$set": { "open": true } };
    if connection.change_cell(closed, update).await?.is_some() {
        return Ok(());
    }
    let found = checked_cell(connection, key).await?;
    // The cell is open for this epoch: an earlier try of this call has done it.
    let is_done = found.is_some_and(|found| found.counts_for(epoch));
    if is_done { Ok(()) } else { Err(regressed(key, epoch, found).into()) }
}

pub(super) async fn lift(connection: &Connection, key: &Key, epoch: Epoch, floor: u64) -> Result<u64, Fault> {
    // A floor of 0 changes and writes nothing. The majority still acknowledges it, so that a former primary can't
    // return an old value.
    let update = doc! { "$max": { "v": floor.cast_signed() } };
    match connection.change_cell(open_cell(key, epoch), update).await? {
        Some(found) => Ok(state(&found)?.value),
        None => Err(regressed(key, epoch, checked_cell(connection, key).await?).into()),
    }
}

/// The `_id` of a key.
fn id(key: &Key) -> Binary {
    Binary { subtype: BinarySubtype::Generic, bytes: key.as_str().as_bytes().to_vec() }
}

/// The query for the cell of a key.
pub(super) fn of(key: &Key) -> Document {
    doc! { "_id": id(key) }
}

/// The query for the cell of a key that is open for this epoch.
fn open_cell(key: &Key, epoch: Epoch) -> Document {
    doc! { "_id": id(key), "epoch": epoch.to_stored(), "open": true }
}

/// The cell found instead of one that a call could change; `Stale` if the collection is another one.
async fn checked_cell(connection: &Connection, key: &Key) -> Result<Option<CellState>, Fault> {
    connection.check_collection().await?;
    connection.cell(of(key)).await?.as_ref().map(state).transpose()
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
