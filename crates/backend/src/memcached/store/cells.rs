//! Cell calls of the memcached store: those of `cas`, on an item.

use sequent_core::{Epoch, Key};

use super::identity::note_cell;
use crate::{
    memcached::{connection::Connection, entry::CellItem, key_names::Name},
    net::{Fault, Owner},
    store::cas,
};

/// The cell of a key as a register of `cas`.
pub(super) fn item<'a>(connection: &'a mut Connection, owner: &Owner, key: &Key) -> CellItem<'a> {
    CellItem { connection, name: Name::of_cell(owner, key), added: false }
}

pub(super) async fn close(
    connection: &mut Connection,
    owner: &Owner,
    key: &Key,
    next: Epoch,
) -> Result<u64, Fault> {
    let mut item = item(connection, owner, key);
    let value = cas::close(&mut item, key, next).await?;
    let CellItem { connection, name, added } = item;
    if added {
        note_cell(connection, &name).await?;
    }
    Ok(value)
}
