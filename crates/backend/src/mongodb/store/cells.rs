//! Cells of the MongoDB store: a take is one `findAndModify` of one document, and the other calls are those of `cas`.
//! The conformance suite's race test passes on the double.
//!
//! A cell is `{_id: the key's bytes, epoch, open, v}`. The key is bytes, so that no collation folds it. Queries demand
//! 64-bit integers: a number written directly may be a double, which loses the last digits of large values.

use mongodb::bson::{Binary, Bson, Document, doc, spec::BinarySubtype};
use sequent_core::{Block, Epoch, Key};

use super::Documents;
use crate::{
    mongodb::{connection::Connection, fault::DUPLICATE_KEY},
    net::Fault,
    store::{
        CellRef, CellState, block,
        cas::{self, Registers, Seen},
    },
};

/// The state itself is compared.
impl Registers for Documents {
    type Connection = Connection;
    type Token = ();

    /// Reads by a change that changes nothing but a value below zero. The majority acknowledges it, so that a former
    /// primary can't return an old value.
    async fn read(&self, connection: &mut Connection, key: &Key) -> Result<Option<Seen<()>>, Fault> {
        let nothing = doc! { "$max": { "v": 0_i64 } };
        let found = connection.change_checked(of(key), nothing).await?;
        found.map(|found| Ok(Seen { state: state(&found)?, token: () })).transpose()
    }

    async fn swap(
        &self,
        connection: &mut Connection,
        key: &Key,
        seen: &Seen<()>,
        new: CellState,
    ) -> Result<bool, Fault> {
        let mut query = of(key);
        query.extend(fields(seen.state));
        let swapped = connection.change_checked(query, doc! { "$set": fields(new) }).await?;
        Ok(swapped.is_some())
    }

    async fn add(&self, connection: &mut Connection, key: &Key, new: CellState) -> Result<bool, Fault> {
        let mut cell = of(key);
        cell.extend(fields(new));
        match connection.cells.insert(cell).await {
            Err(fault) if fault.is(DUPLICATE_KEY) => Ok(false),
            done => done.map(|()| true),
        }
    }

    async fn take(&self, connection: &mut Connection, cell: CellRef<'_>, want: u64) -> Result<Block, Fault> {
        let added = want.cast_signed();
        let mut query = of(cell.key);
        // The query excludes values whose sum would leave the range.
        let value = doc! { "$type": "long", "$lte": i64::MAX - added };
        query.extend(doc! { "epoch": cell.epoch.to_stored(), "open": true, "v": value });
        let add = doc! { "$inc": { "v": added } };
        match connection.cells.change(query, add).await? {
            Some(found) => Ok(block(state(&found)?.value, want)?),
            None => Ok(cas::take(self, connection, cell, want, None).await?.0),
        }
    }
}

/// The query for the cell of a key.
pub(super) fn of(key: &Key) -> Document {
    doc! { "_id": Binary { subtype: BinarySubtype::Generic, bytes: key.as_str().as_bytes().to_vec() } }
}

/// The fields of a state.
fn fields(CellState { epoch, open, value }: CellState) -> Document {
    doc! { "epoch": epoch.to_stored(), "open": open, "v": value.cast_signed() }
}

/// The state of a cell. Only an operator can write a value below zero. No id was taken from it, so it counts as 0.
fn state(found: &Document) -> Result<CellState, Fault> {
    match (found.get("epoch"), found.get("open"), found.get("v")) {
        (Some(Bson::Int64(epoch)), Some(Bson::Boolean(open)), Some(Bson::Int64(value))) => Ok(CellState {
            epoch: Epoch::from_stored(*epoch),
            open: *open,
            value: u64::try_from(*value).unwrap_or(0),
        }),
        (epoch, open, value) => Err(Fault::refused(format!(
            "a cell's epoch is {epoch:?}, its open is {open:?}, and its v is {value:?}, expected a truth value between \
             64-bit integers: somebody wrote them by hand; write NumberLong"
        ))),
    }
}
