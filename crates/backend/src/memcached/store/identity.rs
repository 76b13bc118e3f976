//! Identity, stamp and mark of a memcached store, in one item, so that an eviction takes all or none.
//!
//! Items can't be listed, so the shard's own item names one of the cells as proof that there are cells. If that cell is
//! missing, the next close that creates a cell names that one.

use std::ops::ControlFlow;

use sequent_core::{ErrorKind, Inspection, SlotIndex, Stamp};

use crate::{
    memcached::{connection::Connection, entry::ShardItem, key_names::Name, stats::Stats},
    net::{Connection as _, Fault, Owner},
    store::{Swapped, cas::ROUNDS_MAX, parse_stamp},
};

pub(super) async fn inspect(connection: &mut Connection) -> Result<Inspection, Fault> {
    let stats = Stats::of(connection.wire()).await?;
    let (item, _) = ShardItem::read(connection).await?;
    inspection(connection, stats, &item).await
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
    Ok(!cell.is_empty() && connection.wire().get(&Name::from_stored(cell)).await?.is_some())
}

/// Names a newly created cell in the shard's item, unless the cell named there still exists.
pub(super) async fn note_cell(connection: &mut Connection, cell: &Name) -> Result<(), Fault> {
    for _ in 0..ROUNDS_MAX {
        let (mut item, when) = ShardItem::read(connection).await?;
        if is_there(connection, &item.cell).await? {
            return Ok(());
        }
        item.cell = cell.text();
        if item.write(connection, when).await? {
            return Ok(());
        }
        connection.pause().await;
    }
    // Another client was faster and has named its own cell.
    Ok(())
}

pub(super) async fn swap_stamp(
    connection: &mut Connection,
    expected: Option<&str>,
    new: &str,
) -> Result<Swapped, Fault> {
    let change = |item: &mut ShardItem| {
        if stamp_of(item) != expected {
            return ControlFlow::Break(Swapped::Found(stamp_of(item).map(str::to_owned)));
        }
        new.clone_into(&mut item.stamp);
        ControlFlow::Continue(Swapped::Done)
    };
    update(connection, "stamp", change).await
}

pub(super) async fn mark(connection: &mut Connection, version: u64) -> Result<u64, Fault> {
    let change = |item: &mut ShardItem| {
        if item.mark >= version {
            return ControlFlow::Break(item.mark);
        }
        item.mark = version;
        ControlFlow::Continue(version)
    };
    update(connection, "mark", change).await
}

/// Changes the shard's own item, and retries after a lost race. If `change` breaks, nothing is written.
async fn update<T>(
    connection: &mut Connection,
    what: &str,
    change: impl Fn(&mut ShardItem) -> ControlFlow<T, T>,
) -> Result<T, Fault> {
    for _ in 0..ROUNDS_MAX {
        let (mut item, when) = ShardItem::read(connection).await?;
        let done = match change(&mut item) {
            ControlFlow::Break(found) => return Ok(found),
            ControlFlow::Continue(done) => done,
        };
        if item.write(connection, when).await? {
            return Ok(done);
        }
        connection.pause().await;
    }
    Err(Fault::answer(ErrorKind::Contended, format!("{what}: others were faster {ROUNDS_MAX} times")))
}

/// The stamps of the other slots.
pub(super) async fn siblings(
    connection: &mut Connection,
    owner: &Owner,
    slots: SlotIndex,
) -> Result<Vec<Stamp>, Fault> {
    let mut found = Vec::new();
    for slot in (0..slots).filter(|slot| *slot != owner.slot) {
        let name = Name::of_shard(&Owner { slot, ..owner.clone() });
        let item = connection.wire().get(&name).await?.map(|found| found.data);
        // Data that is no shard item belongs to no slot.
        let item = ShardItem::of(item.as_deref()).unwrap_or_default();
        found.extend(item.stamp.parse::<Stamp>().ok());
    }
    Ok(found)
}
