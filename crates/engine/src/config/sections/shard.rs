//! `[[shard]]`: the store of each slot.

use std::time::Duration;

use sequent_backend::kinds::{Kind, Role};
use sequent_core::{SHARD_BITS_MAX, SlotIndex};

use super::place::PlaceSection;
use crate::config::{
    Fault, Place,
    reading::{Reader, section, setting::whole},
};

/// The last slot of the widest ring.
const SLOT_MAX: SlotIndex = (1 << SHARD_BITS_MAX) - 1;

section! {
    /// The store of a slot, one table each. Without any: an SQLite file for each slot in the data directory. A store on
    /// a server has [the keys of a server](#servers) too.
    pub(crate) struct ShardSection(section) {
        /// The slot in the ring, below 2^`shard_bits`.
        slot: Option<SlotIndex> = whole("slot", 0..=SLOT_MAX)
            .expecting(format!("0 to {SLOT_MAX} are allowed, below 2^shard_bits"))
            .required(),
    }
}

/// A store in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardPart {
    /// The slot in the ring.
    pub slot: SlotIndex,
    /// The location of the store.
    pub place: Place,
}

/// The shards of a file.
pub(crate) struct Shards {
    /// Each with its position in the file's list; `None` if the file has no list.
    pub(crate) parts: Option<Vec<(usize, ShardPart)>>,
    /// Whether any is on a server.
    pub(crate) networked: bool,
}

impl Shards {
    pub(crate) fn checked(reader: &mut Reader<'_>, attempt_timeout: Duration) -> Self {
        let Some(tables) = reader.list("shard") else { return Self { parts: None, networked: false } };
        if tables.is_empty() {
            let bound = "at least one [[shard]], or none of them for the embedded default";
            reader.fault(Fault::new("shard", "empty", bound));
        }
        let (mut parts, mut networked) = (Vec::new(), false);
        for (at, table) in tables.into_iter().enumerate() {
            let mut section = reader.item("shard", at, table);
            let slot = ShardSection::read(&mut section).slot;
            let (store, place) = PlaceSection::place(&mut section, Role::Store, attempt_timeout);
            section.finish();
            networked |= store.is_some_and(Kind::is_networked);
            parts.extend(slot.zip(place).map(|(slot, place)| (at, ShardPart { slot, place })));
        }
        Self { parts: Some(parts), networked }
    }
}
