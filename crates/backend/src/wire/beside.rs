//! Another slot's stamp in the database where a slot's own is missing, told to whoever only looks.

use sequent_core::{Fact, FactClass, SHARD_BITS_MAX, SlotIndex, Stamp};

/// As many slots as any ring has: whoever looks knows of no ring.
pub(crate) const SLOTS_MAX: SlotIndex = 1 << SHARD_BITS_MAX;

/// The stamp as a fact, which whoever knows the ring judges.
pub(crate) fn beside(stamp: &Stamp) -> Fact {
    Fact::new(FactClass::Note, "beside", stamp.to_string())
}
