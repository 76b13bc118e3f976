//! Expiry: the ledger's data of periods that are over for good.

use sequent_core::{
    Key, SlotIndex, SourceError,
    ledger::{Counter, Fence, LedgerNote, NoteSubject},
};

use super::LedgerClient;

impl LedgerClient {
    /// The last period that is over, as digits; 0 if there is none.
    pub(crate) async fn over(&self, fence: &Fence) -> Result<u64, SourceError> {
        self.in_reach()?;
        let held = self.limited("read of a fence", self.ledger.noted(&fence.about())).await;
        self.outcome(held)
    }

    /// The keys of a slot's counters in `from .. below`.
    pub(crate) async fn keys_between(
        &self,
        slot: SlotIndex,
        (from, below): (&str, &str),
        most: usize,
    ) -> Result<Vec<Key>, SourceError> {
        self.in_reach()?;
        self.limited("list of keys", self.ledger.keys_between(slot, from, below, most)).await
    }

    /// The keys of dense counters in `from .. below`.
    pub(crate) async fn dense_between(
        &self,
        (from, below): (&str, &str),
        most: usize,
    ) -> Result<Vec<Key>, SourceError> {
        self.in_reach()?;
        self.limited("list of dense keys", self.ledger.dense_between(from, below, most)).await
    }

    /// Deletes dense counters behind a fence, which is noted in the same step. Before that, a note records that there were
    /// some.
    pub(crate) async fn forget_dense(&self, fence: &Fence, keys: &[Key]) -> Result<u64, SourceError> {
        self.in_reach()?;
        let note = LedgerNote { about: NoteSubject::DenseForgotten, to: 1 };
        self.limited("note that dense counters go", self.ledger.note(&note)).await?;
        self.limited("forget dense counters", self.ledger.forget_dense(fence, keys)).await
    }

    /// Notes a fence and deletes counters behind it. A slow or contended call does not make the ledger count as away.
    pub(crate) async fn forget(&self, fence: &Fence, counters: &[Counter]) -> Result<u64, SourceError> {
        self.in_reach()?;
        self.limited("forget counters", self.ledger.forget(fence, counters)).await
    }
}
