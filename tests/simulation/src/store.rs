//! A store at the other end of a simulated wire.

use sequent_backend::memory::MemoryStore;
use sequent_core::{
    Block, BoxFuture, Cell, Epoch, Inspection, InstanceId, SlotIndex, SourceError, Stamp, Store,
};

use super::network::Network;

/// One server's handle to a shared [`MemoryStore`].
#[derive(Debug, Clone)]
pub(crate) struct SimStore {
    slot: SlotIndex,
    store: MemoryStore,
    network: Network,
}

impl SimStore {
    /// A handle over these lines.
    pub(crate) fn new(slot: SlotIndex, store: MemoryStore, network: Network) -> Self {
        Self { slot, store, network }
    }

    /// The store that answers at the other end now.
    fn store(&self) -> MemoryStore {
        self.network.switches.apart(self.slot).unwrap_or_else(|| self.store.clone())
    }
}

impl Store for SimStore {
    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>> {
        let store = self.store();
        Box::pin(self.network.call(false, async move { store.inspect().await }))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        let (store, under, expected, new) = (self.store(), under.clone(), expected.cloned(), new.clone());
        Box::pin(self.network.call(false, async move { store.stamp(&under, expected.as_ref(), &new).await }))
    }

    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        let (store, under) = (self.store(), under.clone());
        Box::pin(self.network.call(false, async move { store.mark(&under, version).await }))
    }

    fn take<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>> {
        let (store, key, under) = (self.store(), cell.key.clone(), cell.under.clone());
        Box::pin(
            self.network
                .call(false, async move { store.take(Cell { key: &key, under: &under }, epoch, want).await }),
        )
    }

    fn close<'a>(&'a self, cell: Cell<'a>, next: Epoch) -> BoxFuture<'a, Result<u64, SourceError>> {
        let (store, key, under) = (self.store(), cell.key.clone(), cell.under.clone());
        Box::pin(
            self.network
                .call(false, async move { store.close(Cell { key: &key, under: &under }, next).await }),
        )
    }

    fn install<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        let (store, key, under) = (self.store(), cell.key.clone(), cell.under.clone());
        Box::pin(
            self.network.call(false, async move {
                store.install(Cell { key: &key, under: &under }, epoch, base).await
            }),
        )
    }

    fn lift<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        floor: u64,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        let (store, key, under) = (self.store(), cell.key.clone(), cell.under.clone());
        Box::pin(
            self.network.call(false, async move {
                store.lift(Cell { key: &key, under: &under }, epoch, floor).await
            }),
        )
    }
}
