//! What is settled before the ring is fenced, and noted right after it: that all can be written to, and which stores forget.

use std::collections::BTreeSet;

use sequent_core::{
    DurabilityClass, InstanceId, SlotIndex, SourceError,
    ledger::{Known, LayoutChange},
};

use super::{Resize, inspect::Sight};
use crate::timeouts::patiently;

/// What the ledger has on record for a slot whose store was seen at the fence, and is volatile: no store says that of itself.
fn volatile_at(change: &LayoutChange) -> InstanceId {
    InstanceId::nobody(&format!(
        "a volatile store, seen when generation {} was fenced",
        change.next.generation
    ))
}

impl Resize {
    /// Leaves a version of the ledger on everything that the run will write to. What does not take it must leave the ring
    /// as it is, and a run that was cut off where it was.
    pub(super) async fn try_out(&self, sight: &Sight, version: u64) -> Result<(), SourceError> {
        let state = if sight.page.is_fenced {
            "still fenced, and not taken further"
        } else {
            "before the fence, nothing is different yet"
        };
        self.mark(sight, version).await.map_err(|error| error.during(state))
    }

    /// Notes which slots have a volatile store. Without the ledger nothing leaves above its ceilings, and the ledger knows those:
    /// should such a store come back empty, nobody has to have seen it closed.
    pub(super) async fn note_volatile(
        &self,
        sight: &Sight,
        change: &LayoutChange,
    ) -> Result<(), SourceError> {
        let is_volatile = |class: DurabilityClass| class == DurabilityClass::Volatile;
        let seen = sight.stores.iter().filter(|seen| is_volatile(seen.found.durability.class));
        for slot in seen.filter_map(|seen| seen.was) {
            let note = || async {
                let under = &self.ledger.inspect().await?.instance;
                self.ledger.record(under, Some(slot), &volatile_at(change)).await
            };
            patiently(self.limit, "note of a volatile store", note).await?;
        }
        Ok(())
    }
}

/// The slots whose stores were volatile when the change was fenced.
pub(super) fn volatile(known: &Known, change: &LayoutChange) -> BTreeSet<SlotIndex> {
    let noted = volatile_at(change);
    known.stores.iter().filter(|(_, is)| *is == noted).map(|(slot, _)| *slot).collect()
}
