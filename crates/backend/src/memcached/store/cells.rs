//! Cells of the memcached store, as the registers of `cas`: `epoch open value`.

use sequent_core::Key;

use super::{Items, identity::note_cell};
use crate::{
    memcached::{
        codec::When,
        connection::Connection,
        entry::{ShardItem, cell_data, cell_state, flushed},
        key_names::Name,
    },
    net::Fault,
    store::{
        CellState,
        cas::{Registers, Seen},
    },
};

impl Registers for Items {
    type Connection = Connection;
    type Token = u64;

    async fn read(&self, connection: &mut Connection, key: &Key) -> Result<Option<Seen<u64>>, Fault> {
        let (shard, name) = (connection.shard().clone(), Name::of_cell(connection.owner(), key));
        let (own, found) = connection.wire().get_both(&shard, &name).await?;
        if ShardItem::of(own.map(|own| own.data).as_deref())?.born != connection.token() {
            return Err(flushed());
        }
        Ok(found.map(|found| Seen { state: cell_state(&found.data), token: found.version }))
    }

    async fn swap(
        &self,
        connection: &mut Connection,
        key: &Key,
        seen: &Seen<u64>,
        new: CellState,
    ) -> Result<bool, Fault> {
        let name = Name::of_cell(connection.owner(), key);
        connection.wire().set(&name, cell_data(new).as_bytes(), When::Is(seen.token)).await
    }

    async fn add(&self, connection: &mut Connection, key: &Key, new: CellState) -> Result<bool, Fault> {
        let name = Name::of_cell(connection.owner(), key);
        note_cell(connection, &name).await?;
        connection.wire().set(&name, cell_data(new).as_bytes(), When::Absent).await
    }
}
