//! What the ledger holds of periods that are over for good.

use sequent_core::{
    Key, SlotIndex, SourceError,
    ledger::{Counter, Fence, LedgerNote, NoteSubject},
};

use super::LedgerClient;

impl LedgerClient {
    /// Up to where periods are over, as digits; 0 where none is.
    pub(crate) async fn over(&self, fence: &Fence) -> Result<u64, SourceError> {
        self.in_reach()?;
        let held = self.limited("read of a fence", self.ledger.noted(&fence.about())).await;
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

    /// Keys of dense counters, from one on and before another.
    pub(crate) async fn dense_between(
        &self,
        (from, below): (&str, &str),
        most: usize,
    ) -> Result<Vec<Key>, SourceError> {
        self.in_reach()?;
        self.limited("list of dense keys", self.ledger.dense_between(from, below, most)).await
    }

    /// Forgets dense counters behind a fence, which is noted in the same step. That there were some is noted before.
    pub(crate) async fn forget_dense(&self, fence: &Fence, keys: &[Key]) -> Result<u64, SourceError> {
        self.in_reach()?;
        let note = LedgerNote { about: NoteSubject::DenseForgotten, to: 1 };
        self.limited("note that dense counters go", self.ledger.note(&note)).await?;
        self.limited("forget dense counters", self.ledger.forget_dense(fence, keys)).await
    }

    /// Notes a fence, and forgets counters behind it. That this takes long, or meets others, says nothing of the ledger to
    /// those who count.
    pub(crate) async fn forget(&self, fence: &Fence, counters: &[Counter]) -> Result<u64, SourceError> {
        self.in_reach()?;
        self.limited("forget counters", self.ledger.forget(fence, counters)).await
    }
}
