//! Identity, stamp and mark of a Redis store.

use redis::{cmd, pipe};
use sequent_core::{Inspection, SlotIndex, Stamp};

use crate::{
    net::{Connection as _, Fault, Owner},
    redis::{
        connection::Connection,
        names::{CellNames, shard_name},
        scripts::{CHECK, MARK, STAMP},
    },
    store::{StoreConnection, other_stamp, parse_stamp},
};

/// Keys per scan, and the most scans. In a database used only by this store, the first scan finds a cell or the end.
const SCAN_COUNT: u32 = 1000;
const SCANS_MAX: usize = 32;

/// Slots whose stamps are read in one round trip.
const SLOTS_AT_ONCE: usize = 256;

impl StoreConnection for Connection {
    const HAS_SIBLINGS: bool = true;

    async fn inspect(&mut self) -> Result<Inspection, Fault> {
        let (inspection, _) = inspect(self).await?;
        // What was read is of the instance of the opening, if that still answers.
        self.run(&CHECK, None, &[]).await?;
        Ok(inspection)
    }

    async fn swap_stamp(&mut self, expected: Option<&str>, new: &str) -> Result<(), Fault> {
        let words = self.run(&STAMP, None, &[expected.unwrap_or_default(), new]).await?;
        if words.first().is_some_and(|word| word == "ok") {
            return Ok(());
        }
        let found = words.last().map(String::as_str).filter(|stamp| !stamp.is_empty());
        Err(other_stamp(found, expected).into())
    }

    async fn mark(&mut self, version: u64) -> Result<u64, Fault> {
        let words = self.run(&MARK, None, &[&version.to_string()]).await?;
        Ok(words.last().and_then(|held| held.parse().ok()).unwrap_or(0))
    }

    async fn siblings(&mut self, slots: SlotIndex) -> Result<Vec<Stamp>, Fault> {
        let owner = self.owner.clone();
        let others: Vec<SlotIndex> = (0..slots).filter(|slot| *slot != owner.slot).collect();
        let mut found = Vec::new();
        for some in others.chunks(SLOTS_AT_ONCE) {
            let mut reads = pipe();
            for slot in some {
                reads.cmd("HGET").arg(shard_name(&Owner { slot: *slot, ..owner.clone() })).arg("stamp");
            }
            let stamps: Vec<Option<String>> = self.ask_all(&reads).await?;
            // Text that is no stamp belongs to no slot.
            found.extend(stamps.into_iter().flatten().filter_map(|stamp| stamp.parse::<Stamp>().ok()));
        }
        Ok(found)
    }
}

/// Reads the store's identity, and its mark. Nothing is written, and no script is run.
pub(super) async fn inspect(connection: &mut Connection) -> Result<(Inspection, u64), Fault> {
    let mut read = cmd("HMGET");
    read.arg(&connection.shard).arg(&["stamp", "mark", "cell"]);
    let [stamp, mark, cell]: [Option<String>; 3] = connection.ask(&read).await?;
    let has_cells = match &cell {
        Some(cell) => has_cells(connection, cell).await?,
        // As elsewhere, a store without its own key counts as empty.
        None => false,
    };
    let (seconds, micros): (u64, u64) = connection.ask(&cmd("TIME")).await?;
    let inspection = Inspection {
        durability: connection.durability().await?,
        instance: connection.instance().clone(),
        stamp: parse_stamp(stamp.as_deref())?,
        has_cells,
        clock_ms: seconds * 1000 + micros / 1000,
        version: connection.run.version.clone(),
    };
    Ok((inspection, mark.and_then(|held| held.parse().ok()).unwrap_or(0)))
}

/// Whether there is any cell; `cell` is the one closed last.
async fn has_cells(connection: &mut Connection, cell: &str) -> Result<bool, Fault> {
    let epoch: Option<String> = connection.ask(cmd("HGET").arg(cell).arg("epoch")).await?;
    Ok(epoch.is_some() || has_others(connection).await?)
}

/// Whether a scan finds a cell. In a database shared with other programs the scans may end before; then the answer is
/// `false`. Every key with this prefix was written by this cluster.
async fn has_others(connection: &mut Connection) -> Result<bool, Fault> {
    let pattern = [&CellNames::prefixes(&connection.owner).cell[..], b"*"].concat();
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
