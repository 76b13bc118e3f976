//! What the ledger holds of periods that are over for good.

use sequent_core::{
    Key, SlotIndex, SourceError,
    ledger::{Advanced, Counter},
};

use super::Desk;

impl Desk {
    /// What is held for a fence.
    pub(crate) async fn fence(&self, fence: &Advanced) -> Result<u64, SourceError> {
        self.in_reach()?;
        let held = self.limited("read of a fence", self.ledger.fence(fence)).await;
        self.outcome(held)
    }

    /// Keys of a slot's counters, from one on and before another.
    pub(crate) async fn keys_between(
        &self,
        slot: SlotIndex,
        (from, below): (&str, &str),
        most: usize,
    ) -> Result<Vec<Key>, SourceError> {
        self.in_reach()?;
        self.limited("list of keys", self.ledger.keys_between(slot, from, below, most)).await
    }

    /// Notes a fence, and forgets counters behind it. That this takes long, or meets others, says nothing of the ledger to
    /// those who count.
    pub(crate) async fn forget(&self, fence: &Advanced, counters: &[Counter]) -> Result<u64, SourceError> {
        self.in_reach()?;
        self.limited("forget counters", self.ledger.forget(fence, counters)).await
    }
}
