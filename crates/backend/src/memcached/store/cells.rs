//! Cells of the memcached store, as the registers of `cas`: `epoch open value`.

use sequent_core::{Block, Key};

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
        CellRef, CellState, Counting,
        cas::{self, Registers, Seen, won},
    },
};

impl Registers<Connection> for Items {
    type Token = u64;

    async fn read(&self, connection: &mut Connection, key: &Key) -> Result<Option<Seen<u64>>, Fault> {
        let name = Name::of_cell(&connection.owner, key);
        let (own, found) = connection.wire.get_both(&connection.shard, &name).await?;
        if ShardItem::of(own.as_ref())?.born != connection.token {
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
        let name = Name::of_cell(&connection.owner, key);
        connection.wire.set(&name, cell_data(new).as_bytes(), When::Is(seen.token)).await
    }
}

impl Counting<Connection> for Items {
    async fn take(&self, connection: &mut Connection, cell: CellRef<'_>, want: u64) -> Result<Block, Fault> {
        Ok(cas::take(self, connection, cell, want, None).await?.0)
    }

    async fn close(&self, connection: &mut Connection, cell: CellRef<'_>) -> Result<u64, Fault> {
        if let Some(value) = cas::close(self, connection, cell).await? {
            return Ok(value);
        }
        let name = Name::of_cell(&connection.owner, cell.key);
        note_cell(connection, &name).await?;
        let data = cell_data(cell.closed_at(0));
        let is_added = connection.wire.set(&name, data.as_bytes(), When::Absent).await?;
        won(cell, is_added)?;
        Ok(0)
    }

    async fn install(&self, connection: &mut Connection, cell: CellRef<'_>, base: u64) -> Result<(), Fault> {
        cas::install(self, connection, cell, base).await
    }

    async fn lift(&self, connection: &mut Connection, cell: CellRef<'_>, floor: u64) -> Result<u64, Fault> {
        cas::lift(self, connection, cell, floor).await
    }
}
