//! What a store says of itself, its stamp and its mark: one item, so that no eviction parts them.
//!
//! Items can't be listed, so the shard's own names one of the cells: where that one is gone, another is named at the next
//! close that makes a cell.

use sequent_core::{Block, ErrorKind, Incarnation, Inspection, SlotIndex, SourceError, Stamp};

use crate::{
    cas::ROUNDS_MAX,
    memcached::{
        item::{ShardItem, pause},
        link::{About, Link},
        name::Name,
    },
    wire::{Fault, Line, Owner, Work},
};

pub(super) struct Inspect;

impl Work<Link> for Inspect {
    type Out = Inspection;
    const VERB: &'static str = "inspect";

    async fn run(&self, link: &mut Link) -> Result<Inspection, Fault> {
        let About { clock_ms, version, durability, .. } = link.about().await?;
        let (item, _) = ShardItem::read(link).await?;
        let has_cells = is_there(link, &item.cell).await?;
        let unreadable = |error| SourceError::new(ErrorKind::Refused, "stamp").because(error);
        let stamp = (!item.stamp.is_empty()).then(|| item.stamp.parse::<Stamp>());
        let stamp = stamp.transpose().map_err(unreadable)?;
        let incarnation = link.incarnation().clone();
        Ok(Inspection { incarnation, stamp, has_cells, durability, clock_ms, version })
    }
}

pub(super) async fn is_there(link: &mut Link, cell: &str) -> Result<bool, Fault> {
    Ok(!cell.is_empty() && link.wire().get(&Name::from_stored(cell)).await?.is_some())
}

/// Names a cell that was just made, unless another one is named that is there.
pub(super) async fn note_cell(link: &mut Link, cell: &Name) -> Result<(), Fault> {
    for _ in 0..ROUNDS_MAX {
        let (mut item, when) = ShardItem::read(link).await?;
        if is_there(link, &item.cell).await? {
            return Ok(());
        }
        item.cell = cell.text();
        if item.write(link, when).await? {
            return Ok(());
        }
        pause(link.entropy()).await;
    }
    // Whoever was faster named theirs.
    Ok(())
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
        for _ in 0..ROUNDS_MAX {
            let (mut item, when) = ShardItem::read(link).await?;
            if item.stamp != expected {
                let [found, expected] = [item.stamp, expected]
                    .map(|stamp| if stamp.is_empty() { "none".to_owned() } else { stamp });
                let context = format!("stamp: found {found}, expected {expected}");
                return Err(Fault::answer(ErrorKind::Refused, context));
            }
            item.stamp = self.new.to_string();
            if item.write(link, when).await? {
                return Ok(());
            }
            pause(link.entropy()).await;
        }
        Err(contended("stamp"))
    }
}

/// The other slots' stamps.
pub(super) struct Beside<'a> {
    pub(super) owner: &'a Owner,
    pub(super) slots: SlotIndex,
}

impl Work<Link> for Beside<'_> {
    type Out = Vec<Stamp>;
    const VERB: &'static str = "look for other slots on";

    async fn run(&self, link: &mut Link) -> Result<Vec<Stamp>, Fault> {
        let mut found = Vec::new();
        for slot in (0..self.slots).filter(|slot| *slot != self.owner.slot) {
            let name = Name::of_shard(&Owner { slot, ..self.owner.clone() });
            let item = link.wire().get(&name).await?.map(|found| found.data);
            // What can't be read as one is nobody's.
            let item = ShardItem::of(item.as_deref()).unwrap_or_default();
            found.extend(item.stamp.parse::<Stamp>().ok());
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
        for _ in 0..ROUNDS_MAX {
            let (mut item, when) = ShardItem::read(link).await?;
            if item.mark >= self.version {
                return Ok(item.mark);
            }
            item.mark = self.version;
            if item.write(link, when).await? {
                return Ok(self.version);
            }
            pause(link.entropy()).await;
        }
        Err(contended("mark"))
    }
}

fn contended(what: &str) -> Fault {
    Fault::answer(ErrorKind::Contended, format!("{what}: others were faster {ROUNDS_MAX} times"))
}
