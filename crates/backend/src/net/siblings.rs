//! Whose slot is kept in a database, and whose else.

use std::fmt;

use sequent_core::{Fact, FactClass, SHARD_BITS_MAX, SequenceName, SlotIndex, Stamp};

/// Whose slot a store is. Both are in the name of everything that it keeps, so that clusters, and slots, which share a server share nothing
/// else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The cluster.
    pub cluster: SequenceName,
    /// Its slot.
    pub slot: SlotIndex,
}

impl fmt::Display for Owner {
    /// Neither part holds a `/`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.cluster, self.slot)
    }
}

/// As many slots as any ring has: whoever looks knows of no ring.
pub(crate) const SLOTS_MAX: SlotIndex = 1 << SHARD_BITS_MAX;

/// Another slot's stamp in the database where a slot's own is missing, told to whoever only looks.
pub(crate) fn sibling(stamp: &Stamp) -> Fact {
    Fact::new(FactClass::Note, "beside", stamp.to_string())
}
