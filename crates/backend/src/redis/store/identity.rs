//! What a store says of itself, its stamp and its mark.

use redis::cmd;
use sequent_core::{Block, ErrorKind, Incarnation, Inspection, Key, SlotIndex, SourceError, Stamp};

use super::{CellNames, shard_name};
use crate::{
    redis::{
        link::{Answer, Link},
        scripts::{LOOK, MARK, STAMP},
    },
    wire::{Fault, Line, Owner, Work},
};

/// How many keys the server looks through at a time, and how often: in a database that is ours alone the first look finds
/// a cell, or the end.
const SCAN_COUNT: u32 = 1000;
const SCANS_MAX: usize = 32;

/// Slots whose stamps are asked for in one round trip.
const SLOTS_AT_ONCE: usize = 256;

pub(super) struct Inspect<'a> {
    pub(super) owner: &'a Owner,
}

impl Work<Link> for Inspect<'_> {
    type Out = Inspection;
    const VERB: &'static str = "inspect";

    async fn run(&self, link: &mut Link) -> Result<Inspection, Fault> {
        let Answer::Done(words) = link.run(&LOOK, None, &[]).await? else {
            return Err(Fault::refused("the look answered what it never does"));
        };
        let [stamp, cell, seconds, micros] = [0, 1, 2, 3].map(|at| words.get(at).map_or("", String::as_str));
        let has_cells =
            !cell.is_empty() && (is_there(link, cell).await? || has_others(link, self.owner).await?);
        let durability = link.attest().await?;
        let clock = |text: &str| text.parse::<u64>().unwrap_or(0);
        let unreadable = |error| SourceError::new(ErrorKind::Refused, "stamp").because(error);
        Ok(Inspection {
            incarnation: link.incarnation().clone(),
            stamp: (!stamp.is_empty()).then(|| stamp.parse::<Stamp>()).transpose().map_err(unreadable)?,
            has_cells,
            durability,
            clock_ms: clock(seconds) * 1000 + clock(micros) / 1000,
            version: link.version().to_owned(),
        })
    }
}

/// Whether a cell is there.
pub(super) async fn is_there(link: &mut Link, cell: &str) -> Result<bool, Fault> {
    let life: Option<String> = link.ask(cmd("HGET").arg(cell).arg("life")).await?;
    Ok(life.is_some())
}

/// Whether any is. In a database that others fill as well the looks may come to their end before; then none was seen: the
/// names are this owner's alone, and what bears them was written by this cluster.
pub(super) async fn has_others(link: &mut Link, owner: &Owner) -> Result<bool, Fault> {
    let pattern = [&CellNames::of(owner, &Key::from_stored("")).cell[..], b"*"].concat();
    let mut cursor = "0".to_owned();
    for _ in 0..SCANS_MAX {
        let mut scan = cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(SCAN_COUNT);
        let (next, found): (String, Vec<Vec<u8>>) = link.ask(&scan).await?;
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

pub(super) struct Restamp<'a> {
    pub(super) under: &'a Incarnation,
    pub(super) expected: Option<&'a Stamp>,
    pub(super) new: &'a Stamp,
}

impl Work<Link> for Restamp<'_> {
    type Out = ();
    const VERB: &'static str = "stamp";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.under)
    }

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let expected = self.expected.map(ToString::to_string).unwrap_or_default();
        let args = [expected.as_str(), &self.new.to_string()];
        match link.run(&STAMP, None, &args).await? {
            Answer::Done(_) => Ok(()),
            answer => {
                let found = if let Answer::Other(words) = answer { words.concat() } else { String::new() };
                let [found, expected] =
                    [found, expected].map(|stamp| if stamp.is_empty() { "none".to_owned() } else { stamp });
                let context = format!("stamp: found {found}, expected {expected}");
                Err(Fault::answer(ErrorKind::Refused, context))
            }
        }
    }
}

/// The other slots' stamps.
pub(super) struct Beside<'a> {
    pub(super) owner: &'a Owner,
    pub(super) slots: SlotIndex,
}

impl Work<Link> for Beside<'_> {
    type Out = Vec<Stamp>;
    const VERB: &'static str = "look for other slots in";

    async fn run(&self, link: &mut Link) -> Result<Vec<Stamp>, Fault> {
        let others: Vec<SlotIndex> = (0..self.slots).filter(|slot| *slot != self.owner.slot).collect();
        let mut found = Vec::new();
        for some in others.chunks(SLOTS_AT_ONCE) {
            let mut looks = redis::pipe();
            for slot in some {
                let owner = Owner { slot: *slot, ..self.owner.clone() };
                looks.cmd("HGET").arg(shard_name(&owner)).arg("stamp");
            }
            let stamps: Vec<Option<String>> = link.ask_all(&looks).await?;
            // What can't be read as one is nobody's.
            found.extend(stamps.into_iter().flatten().filter_map(|stamp| stamp.parse::<Stamp>().ok()));
        }
        Ok(found)
    }
}

pub(super) struct Mark<'a> {
    pub(super) under: &'a Incarnation,
    pub(super) version: u64,
}

impl Work<Link> for Mark<'_> {
    type Out = u64;
    const VERB: &'static str = "mark";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        if self.version > Block::NUMBER_MAX {
            let context = format!("mark is {}: at most {} is allowed", self.version, Block::NUMBER_MAX);
            return Err(Fault::answer(ErrorKind::Exhausted, context));
        }
        let answer = link.run(&MARK, None, &[&self.version.to_string()]).await?;
        let Answer::Done(words) = answer else {
            return Err(Fault::refused("the mark answered what it never does"));
        };
        Ok(words.first().and_then(|held| held.parse().ok()).unwrap_or(0))
    }
}
