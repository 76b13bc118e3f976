//! Owner of a store (cluster and slot), and the stamps of other slots in the same database.

use std::fmt;

use sequent_core::{Fact, FactClass, SHARD_BITS_MAX, SequenceName, SlotIndex, Stamp};

/// The cluster and slot that a store belongs to. Both are part of every name that the store writes, so that several
/// clusters and slots can share a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The cluster.
    pub cluster: SequenceName,
    /// Its slot.
    pub slot: SlotIndex,
}

impl fmt::Display for Owner {
    /// `cluster/slot`. Neither part can contain a `/`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.cluster, self.slot)
    }
}

/// The most slots of any ring, for a search without knowledge of the ring's size.
pub(crate) const SLOTS_MAX: SlotIndex = 1 << SHARD_BITS_MAX;

/// Note for examinations: another slot's stamp in a database that lacks this slot's own.
pub(crate) fn sibling(stamp: &Stamp) -> Fact {
    Fact::new(FactClass::Note, "beside", stamp.to_string())
}
