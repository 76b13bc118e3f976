//! Preflight of a resize: before the fence, everything must take writes. Right after it, volatile stores are noted.

use std::collections::BTreeSet;

use sequent_core::{
    DurabilityClass, InstanceId, SlotIndex, SourceError,
    ledger::{Known, LayoutChange},
};

use super::{Resize, inspect::Sight};
use crate::timeouts::patiently;

/// The record of a slot whose store was volatile at the fence. No real store has this id.
fn volatile_at(change: &LayoutChange) -> InstanceId {
    InstanceId::nobody(&format!(
        "a volatile store, seen when generation {} was fenced",
        change.next.generation
    ))
}

impl Resize {
    /// Marks a ledger version on everything that the resize will write to. If this fails, the ring, or an interrupted resize,
    /// stays as it is.
    pub(super) async fn try_out(&self, sight: &Sight, version: u64) -> Result<(), SourceError> {
        let state = if sight.page.step.is_fenced() {
            "still fenced, and not taken further"
        } else {
            "before the fence, nothing is different yet"
        };
        self.mark(sight, version).await.map_err(|error| error.during(state))
    }

    /// Notes which slots have volatile stores. If such a store comes back empty, its cells need not have been closed: nothing
    /// leaves above the ledger's ceilings, and the ledger knows those.
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
