//! The four verbs on cells, each one `findAndModify` of one document; on the double they stood the conformance suite's race.
//!
//! A cell is `{_id: the key's bytes, life, open, v}`. The key is bytes, so that no collation folds it. Both numbers are
//! 64-bit integers by name: a number that somebody wrote by hand may be a double, which loses the last digits of large ones.

use mongodb::bson::{Binary, Bson, Document, doc, spec::BinarySubtype};
use sequent_core::{Block, Cell, ErrorKind, Key, Life, SourceError};

use super::stored;
use crate::mongodb::{
    fault::{DUPLICATE_KEY, Fault},
    link::Link,
    schema,
    work::Work,
};

/// How often a close looks for a cell that is made and deleted by others meanwhile.
const CLOSE_TRIES_MAX: usize = 4;

pub(super) struct Take<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) want: u64,
}

impl Work for Take<'_> {
    type Out = Block;
    const VERB: &'static str = "take from";

    async fn run(&self, link: &Link) -> Result<Block, Fault> {
        let Self { cell, life, .. } = self;
        link.check(cell.under)?;
        let want = self.want.max(1);
        let added = stored("count", cell.key, want)?;
        // No sum is made that would leave the range.
        let room = i64::MAX - added;
        let mut query = open_cell(cell.key, *life);
        query.insert("v", doc! { "$type": "long", "$lte": room });
        match link.change_cell(query, doc! { "$inc": { "v": added } }).await? {
            Some(found) => {
                Block::ending_at(value(&found)?, want).map_err(|error| SourceError::exhausted(error).into())
            }
            None => Err(self.refused(link, room).await?),
        }
    }
}

impl Take<'_> {
    async fn refused(&self, link: &Link, room: i64) -> Result<Fault, Fault> {
        let Self { cell, life, want } = self;
        if let Some(found) = link.cell(open_cell(cell.key, *life)).await? {
            let held = value(&found)?;
            if i64::try_from(held).is_ok_and(|held| held > room) {
                let context = format!("{}: {want} more than {held} is above {}", cell.key, i64::MAX);
                return Ok(SourceError::new(ErrorKind::Exhausted, context).into());
            }
        }
        refused(link, cell, *life).await
    }
}

pub(super) struct Close<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) next: Life,
}

impl Work for Close<'_> {
    type Out = u64;
    const VERB: &'static str = "close a cell of";

    async fn run(&self, link: &Link) -> Result<u64, Fault> {
        let Self { cell, next } = self;
        link.check(cell.under)?;
        let life = next.to_stored();
        for _ in 0..CLOSE_TRIES_MAX {
            let closed =
                link.change_cell(of(cell.key), doc! { "$set": { "life": life, "open": false } }).await?;
            link.compared().await?;
            if let Some(found) = closed {
                return value(&found);
            }
            let fresh = doc! { "_id": id(cell.key), "life": life, "open": false, "v": 0_i64 };
            match schema::insert(link.line(), link.on_cells("insert"), fresh).await {
                // Somebody else's close was first.
                Err(fault) if fault.is(DUPLICATE_KEY) => {}
                done => return done.map(|()| 0),
            }
        }
        let context = format!("{}: made and gone {CLOSE_TRIES_MAX} times", cell.key);
        Err(SourceError::new(ErrorKind::Contended, context).into())
    }
}

pub(super) struct Install<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) base: u64,
}

impl Work for Install<'_> {
    type Out = ();
    const VERB: &'static str = "install a cell of";

    async fn run(&self, link: &Link) -> Result<(), Fault> {
        let Self { cell, life, .. } = self;
        link.check(cell.under)?;
        let base = stored("base", cell.key, self.base)?;
        let mut closed = of(cell.key);
        closed.extend(doc! { "life": life.to_stored(), "open": false });
        let update = doc! { "$max": { "v": base }, "$set": { "open": true } };
        if link.change_cell(closed, update).await?.is_some() {
            return Ok(());
        }
        // Open for this life already: done before.
        match link.cell(open_cell(cell.key, *life)).await? {
            Some(_) => Ok(()),
            None => Err(refused(link, cell, *life).await?),
        }
    }
}

pub(super) struct Lift<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) floor: u64,
}

impl Work for Lift<'_> {
    type Out = u64;
    const VERB: &'static str = "lift a cell of";

    async fn run(&self, link: &Link) -> Result<u64, Fault> {
        let Self { cell, life, .. } = self;
        link.check(cell.under)?;
        let floor = stored("floor", cell.key, self.floor)?;
        // A floor of 0 changes nothing, and so writes nothing; the majority is asked all the same, so that no primary that
        // was voted out tells an old value.
        match link.change_cell(open_cell(cell.key, *life), doc! { "$max": { "v": floor } }).await? {
            Some(found) => value(&found),
            None => Err(refused(link, cell, *life).await?),
        }
    }
}

/// A key as an `_id`.
fn id(key: &Key) -> Binary {
    Binary { subtype: BinarySubtype::Generic, bytes: key.as_str().as_bytes().to_vec() }
}

/// Finds the cell of a key.
pub(super) fn of(key: &Key) -> Document {
    doc! { "_id": id(key) }
}

/// Finds the cell of a key if it is open for this life.
fn open_cell(key: &Key, life: Life) -> Document {
    doc! { "_id": id(key), "life": life.to_stored(), "open": true }
}

/// The value that a cell holds. Below zero only by hand, and then no id was given that it would have to cover.
fn value(found: &Document) -> Result<u64, Fault> {
    match found.get("v") {
        Some(Bson::Int64(value)) => Ok(u64::try_from(*value).unwrap_or(0)),
        other => Err(Fault::refused(format!(
            "a cell's v is {other:?}, expected a 64-bit integer: somebody wrote it by hand; write NumberLong"
        ))),
    }
}

/// Says what was found instead: other collections, no cell, or one of another life.
async fn refused(link: &Link, cell: &Cell<'_>, life: Life) -> Result<Fault, Fault> {
    link.anchored().await?;
    let found = match link.cell(of(cell.key)).await? {
        None => "no cell".to_owned(),
        Some(found) => {
            let open = if found.get_bool("open").unwrap_or(false) { "open" } else { "closed" };
            let held =
                found.get_i64("life").map_or("nobody".to_owned(), |held| Life::from_stored(held).to_string());
            format!("a cell {open} for life {held}")
        }
    };
    let context = format!("{} in life {life}: found {found}", cell.key);
    Ok(SourceError::new(ErrorKind::Regressed, context).into())
}
