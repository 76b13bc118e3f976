//! What a store says of itself, its stamp and its mark: one item, so that no eviction parts them.
//!
//! Items can't be listed, so the shard's own names one of the cells: where that one is gone, another is named at the next
//! close that makes a cell.

use std::ops::ControlFlow;

use sequent_core::{ErrorKind, Inspection, SlotIndex, Stamp};

use crate::{
    memcached::{connection::Connection, item::ShardItem, name::Name, stats::Stats},
    net::{Connection as _, Fault, Owner},
    store::{Swapped, cas::ROUNDS_MAX, parse_stamp},
};

pub(super) async fn inspect(connection: &mut Connection) -> Result<Inspection, Fault> {
    let stats = Stats::of(connection.wire()).await?;
    let (item, _) = ShardItem::read(connection).await?;
    inspection(connection, stats, &item).await
}

/// What is said of a store with this item, on a server that says this of itself.
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

/// Names a cell that was just made, unless another one is named that is there.
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
    // Whoever was faster named theirs.
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

/// Changes the shard's own item, again where others were faster; where `change` breaks, nothing is written.
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

/// The other slots' stamps.
pub(super) async fn siblings(
    connection: &mut Connection,
    owner: &Owner,
    slots: SlotIndex,
) -> Result<Vec<Stamp>, Fault> {
    let mut found = Vec::new();
    for slot in (0..slots).filter(|slot| *slot != owner.slot) {
        let name = Name::of_shard(&Owner { slot, ..owner.clone() });
        let item = connection.wire().get(&name).await?.map(|found| found.data);
        // What can't be read as one is nobody's.
        let item = ShardItem::of(item.as_deref()).unwrap_or_default();
        found.extend(item.stamp.parse::<Stamp>().ok());
    }
    Ok(found)
}
