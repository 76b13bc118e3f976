//! Pages of a Redis shard's cells.

use redis::{RedisResult, cmd, pipe};
use sequent_core::{Block, CellPage, Key};

use crate::{
    net::{Fault, Owner},
    redis::{connection::Connection, names::CellNames},
};

/// Keys per scan.
const SCAN_COUNT: u32 = 4096;

pub(super) async fn page(connection: &mut Connection, from: Option<&str>) -> Result<CellPage, Fault> {
    let owner = &connection.owner.clone();
    let mut scan = cmd("SCAN");
    scan.arg(from.unwrap_or("0")).arg("MATCH").arg(pattern(owner)).arg("COUNT").arg(SCAN_COUNT);
    let (next, names): (String, Vec<Vec<u8>>) = connection.ask(&scan).await?;
    let found: Vec<Found> = names.iter().filter_map(|name| Found::of(owner, name)).collect();
    let mut reads = pipe();
    for Found { key, .. } in &found {
        let names = CellNames::of(owner, key);
        reads.cmd("HMGET").arg(&names.cell).arg(&["epoch", "v"]);
        reads.cmd("HMGET").arg(&names.witness).arg("v");
    }
    let held: Vec<Held> = if found.is_empty() { Vec::new() } else { connection.ask_each(&mut reads).await? };
    let told = found.into_iter().zip(held.chunks_exact(2)).filter_map(|(found, held)| found.told(held));
    Ok(CellPage { cells: told.collect(), next: (next != "0").then_some(next), is_partial: false })
}

/// Pattern of cells, and of witnesses whose cell is missing.
fn pattern(owner: &Owner) -> String {
    format!("sequent/{owner}/[cw]*/*")
}

/// The fields of one hash, or the error of another type.
type Held = RedisResult<Vec<Option<String>>>;

/// A name found by the scan.
struct Found {
    key: Key,
    is_cell: bool,
}

impl Found {
    fn of(owner: &Owner, name: &[u8]) -> Option<Self> {
        let prefixes = CellNames::prefixes(owner);
        let (rest, is_cell) = match name.strip_prefix(&prefixes.cell[..]) {
            Some(rest) => (rest, true),
            None => (name.strip_prefix(&prefixes.witness[..])?, false),
        };
        Some(Self { key: Key::from_stored(&String::from_utf8_lossy(rest)), is_cell })
    }

    /// The key and its highest value, as a close would read it. If both exist, only the cell reports the key, so that
    /// it is listed once.
    fn told(self, held: &[Held]) -> Option<(Key, u64)> {
        let [cell, witness] = held else { return None };
        let is_there = cell.as_ref().map_or(true, |fields| fields.iter().any(Option::is_some));
        if is_there && !self.is_cell {
            return None;
        }
        let fields = cell.iter().flat_map(|fields| fields.iter().skip(1)).chain(witness.iter().flatten());
        let numbers = fields.flatten().filter_map(|text| text.parse::<u64>().ok());
        let value = numbers.filter(|value| *value <= Block::NUMBER_MAX).max()?;
        Some((self.key, value))
    }
}
