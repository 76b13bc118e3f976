//! Identity, stamp and mark of a memcached store, in one item, so that an eviction takes all or none.
//!
//! Items can't be listed, so the shard's own item names one of the cells as proof that there are cells. If that cell is
//! missing, the next close that creates a cell names that one first.

use sequent_core::{Inspection, SlotIndex, Stamp};

use crate::{
    memcached::{connection::Connection, entry::ShardItem, key_names::Name, stats::Stats},
    net::{Connection as _, Fault, Owner},
    store::{StoreConnection, other_stamp, parse_stamp},
};

impl StoreConnection for Connection {
    const HAS_SIBLINGS: bool = true;

    async fn inspect(&mut self) -> Result<Inspection, Fault> {
        let stats = Stats::of(&mut self.wire).await?;
        let (item, _) = ShardItem::read(self).await?;
        inspection(self, stats, &item).await
    }

    async fn swap_stamp(&mut self, expected: Option<&str>, new: &str) -> Result<(), Fault> {
        let (mut item, when) = ShardItem::read(self).await?;
        if stamp_of(&item) != expected {
            return Err(other_stamp(stamp_of(&item), expected).into());
        }
        new.clone_into(&mut item.stamp);
        item.write(self, when).await
    }

    async fn mark(&mut self, version: u64) -> Result<u64, Fault> {
        let (mut item, when) = ShardItem::read(self).await?;
        if item.mark < version {
            item.mark = version;
            item.write(self, when).await?;
        }
        Ok(item.mark)
    }

    async fn siblings(&mut self, slots: SlotIndex) -> Result<Vec<Stamp>, Fault> {
        let owner = self.owner.clone();
        let mut found = Vec::new();
        for slot in (0..slots).filter(|slot| *slot != owner.slot) {
            let name = Name::of_shard(&Owner { slot, ..owner.clone() });
            // Data that is no shard item belongs to no slot.
            let item = ShardItem::of(self.wire.get(&name).await?.as_ref()).unwrap_or_default();
            found.extend(item.stamp.parse::<Stamp>().ok());
        }
        Ok(found)
    }
}

/// The inspection of a store with this item on this server.
pub(super) async fn inspection(
    connection: &mut Connection,
    stats: Stats,
    item: &ShardItem,
) -> Result<Inspection, Fault> {
    Ok(Inspection {
        has_cells: is_there(connection, &item.cell).await?,
        instance: connection.instance().clone(),
        stamp: parse_stamp(stamp_of(item))?,
        durability: stats.durability,
        clock_ms: stats.clock_ms,
        version: stats.version,
    })
}

fn stamp_of(item: &ShardItem) -> Option<&str> {
    Some(item.stamp.as_str()).filter(|stamp| !stamp.is_empty())
}

async fn is_there(connection: &mut Connection, cell: &str) -> Result<bool, Fault> {
    Ok(!cell.is_empty() && connection.wire.get(&Name::from_stored(cell)).await?.is_some())
}

/// Names a cell that is to be created in the shard's item, unless the cell named there still exists.
pub(super) async fn note_cell(connection: &mut Connection, cell: &Name) -> Result<(), Fault> {
    let (mut item, when) = ShardItem::read(connection).await?;
    if is_there(connection, &item.cell).await? {
        return Ok(());
    }
    cell.text().clone_into(&mut item.cell);
    item.write(connection, when).await
}
