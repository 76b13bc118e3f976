//! Identity, stamp and mark of a Redis store.

use redis::{cmd, pipe};
use sequent_core::{Inspection, SlotIndex, Stamp};

use crate::{
    net::{Connection as _, Fault, Owner},
    redis::{
        connection::{Answer, Connection},
        names::{CellNames, shard_name},
        scripts::{LOOK, MARK, STAMP},
    },
    store::{Swapped, parse_stamp},
};

/// Keys per scan, and the most scans. In a database used only by this store, the first scan finds a cell or the end.
const SCAN_COUNT: u32 = 1000;
const SCANS_MAX: usize = 32;

/// Slots whose stamps are read in one round trip.
const SLOTS_AT_ONCE: usize = 256;

pub(super) async fn inspect(connection: &mut Connection, owner: &Owner) -> Result<Inspection, Fault> {
    let Answer::Done(words) = connection.run(&LOOK, None, &[]).await? else {
        return Err(Fault::refused("the look answered what it never does"));
    };
    let [stamp, cell, seconds, micros] = [0, 1, 2, 3].map(|at| words.get(at).map_or("", String::as_str));
    let has_cells = !cell.is_empty() && has_cells(connection, owner, cell).await?;
    let stamp = Some(stamp).filter(|stamp| !stamp.is_empty());
    let [seconds, micros] = [seconds, micros].map(|text| text.parse().unwrap_or(0));
    inspection(connection, stamp, has_cells, (seconds, micros)).await
}

/// The inspection of a store from these fields. `time` is the server's, in seconds and microseconds.
pub(super) async fn inspection(
    connection: &mut Connection,
    stamp: Option<&str>,
    has_cells: bool,
    time: (u64, u64),
) -> Result<Inspection, Fault> {
    Ok(Inspection {
        durability: connection.durability().await?,
        instance: connection.instance().clone(),
        stamp: parse_stamp(stamp)?,
        has_cells,
        clock_ms: time.0 * 1000 + time.1 / 1000,
        version: connection.version().to_owned(),
    })
}

/// Whether there is any cell; `cell` is the one closed last.
pub(super) async fn has_cells(connection: &mut Connection, owner: &Owner, cell: &str) -> Result<bool, Fault> {
    let epoch: Option<String> = connection.ask(cmd("HGET").arg(cell).arg("epoch")).await?;
    Ok(epoch.is_some() || has_others(connection, owner).await?)
}

/// Whether a scan finds a cell. In a database shared with other programs the scans may end before; then the answer is
/// `false`. Every key with this prefix was written by this cluster.
async fn has_others(connection: &mut Connection, owner: &Owner) -> Result<bool, Fault> {
    let pattern = [&CellNames::prefixes(owner).cell[..], b"*"].concat();
    let mut cursor = "0".to_owned();
    for _ in 0..SCANS_MAX {
        let mut scan = cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(SCAN_COUNT);
        let (next, found): (String, Vec<Vec<u8>>) = connection.ask(&scan).await?;
        if !found.is_empty() {
            return Ok(true);
        }
        if next == "0" {
            break;
        }
        cursor = next;
    }
    Ok(false)
}

pub(super) async fn swap_stamp(
    connection: &mut Connection,
    expected: Option<&str>,
    new: &str,
) -> Result<Swapped, Fault> {
    match connection.run(&STAMP, None, &[expected.unwrap_or_default(), new]).await? {
        Answer::Done(_) => Ok(Swapped::Done),
        Answer::Other(words) => Ok(Swapped::Found(Some(words.concat()).filter(|stamp| !stamp.is_empty()))),
        _ => Ok(Swapped::Found(None)),
    }
}

pub(super) async fn mark(connection: &mut Connection, version: u64) -> Result<u64, Fault> {
    let Answer::Done(words) = connection.run(&MARK, None, &[&version.to_string()]).await? else {
        return Err(Fault::refused("the mark answered what it never does"));
    };
    Ok(words.first().and_then(|held| held.parse().ok()).unwrap_or(0))
}

/// The stamps of the other slots.
pub(super) async fn siblings(
    connection: &mut Connection,
    owner: &Owner,
    slots: SlotIndex,
) -> Result<Vec<Stamp>, Fault> {
    let others: Vec<SlotIndex> = (0..slots).filter(|slot| *slot != owner.slot).collect();
    let mut found = Vec::new();
    for some in others.chunks(SLOTS_AT_ONCE) {
        let mut reads = pipe();
        for slot in some {
            let owner = Owner { slot: *slot, ..owner.clone() };
            reads.cmd("HGET").arg(shard_name(&owner)).arg("stamp");
        }
        let stamps: Vec<Option<String>> = connection.ask_all(&reads).await?;
        // Text that is no stamp belongs to no slot.
        found.extend(stamps.into_iter().flatten().filter_map(|stamp| stamp.parse::<Stamp>().ok()));
    }
    Ok(found)
}
