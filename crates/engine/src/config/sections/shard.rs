//! `[[shard]]`: the store of each slot.

use std::time::Duration;

use sequent_backend::kinds::{Kind, Role};
use sequent_core::{SHARD_BITS_MAX, SlotIndex};

use super::kind;
use crate::config::{Place, TableReader};

/// A store in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardPart {
    /// The slot in the ring.
    pub slot: SlotIndex,
    /// The location of the store.
    pub place: Place,
}

impl ShardPart {
    /// The part, and whether it is on a server; `None` after a fault.
    pub(crate) fn read(mut section: TableReader<'_, '_>, attempt: Duration) -> (Option<Self>, bool) {
        let slots = (1_u64 << SHARD_BITS_MAX) - 1;
        let has_slot = section.has("slot");
        let slot = section.integer_opt("slot", 0..=slots).and_then(|slot| SlotIndex::try_from(slot).ok());
        if !has_slot {
            section.fault("slot", "missing", format!("0 to {slots} are allowed, below 2^shard_bits"));
        }
        let bound = format!("{} are built into this version", kind::built_in(Role::Store));
        let word = section.demanded("store", &bound);
        let kind = word.and_then(|word| kind::known(&mut section, &word, Role::Store));
        let place = kind::place(&mut section, kind, attempt, |section| {
            section
                .demanded("path", "the path of the shard's file is expected, relative to the data directory")
        });
        section.finish();
        (slot.zip(place).map(|(slot, place)| Self { slot, place }), kind.is_some_and(Kind::is_networked))
    }
}
