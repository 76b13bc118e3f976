//! What an engine brings: calls on one connection.
//!
//! Counts, bases and floors are at most [`Block::NUMBER_MAX`], and a count is at least 1. A call is repeated after a
//! fault that states that nothing was done. The contract of each is that of [`Store`](sequent_core::Store).

use std::future::Future;

use sequent_core::{Block, CellPage, Examination, Inspection, Key, SlotIndex, SourceError, Stamp};
use tokio::sync::MutexGuard;

use super::CellRef;
use crate::net::{Connection, Fault, TxMode};

/// A connection to a store: its identity, stamp and mark.
pub(crate) trait StoreConnection: Connection {
    /// Transaction mode of `inspect` and of stamping.
    const INSPECT_MODE: TxMode = TxMode::Single;

    /// Transaction mode of an examination.
    const LOOK_MODE: TxMode = TxMode::Single;

    /// Whether names contain the slot, so that several slots can share a database.
    const HAS_SIBLINGS: bool = false;

    /// Reads the store's identity, durability, clock and mark.
    fn inspect(&mut self) -> impl Future<Output = Result<Inspection, Fault>> + Send;

    /// Replaces the stamp if it is `expected`; fails with [`other_stamp`](super::other_stamp) if it is another one.
    fn swap_stamp(
        &mut self,
        expected: Option<&str>,
        new: &str,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Raises the mark to `version` and returns its value afterwards. 0 only reads.
    fn mark(&mut self, version: u64) -> impl Future<Output = Result<u64, Fault>> + Send;

    /// The stamps of the cluster's other slots, among the first `slots`, in the same database.
    fn siblings(&mut self, slots: SlotIndex) -> impl Future<Output = Result<Vec<Stamp>, Fault>> + Send {
        let _ = slots;
        std::future::ready(Ok(Vec::new()))
    }
}

/// A way of counting in cells, on connections of type `C`.
pub(crate) trait Counting<C>: Send + Sync + 'static {
    /// Whether a counter of this key can be stored.
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        let _ = key;
        Ok(())
    }

    /// Waits for the key's turn, where concurrent takes of one key only slow each other down.
    fn turn(&self, key: &Key) -> impl Future<Output = Option<MutexGuard<'_, ()>>> + Send {
        let _ = key;
        std::future::ready(None)
    }

    /// Adds to an open cell of this epoch.
    fn take(
        &self,
        connection: &mut C,
        cell: CellRef<'_>,
        want: u64,
    ) -> impl Future<Output = Result<Block, Fault>> + Send;

    /// Closes the cell for its next epoch; returns its value.
    fn close(&self, connection: &mut C, cell: CellRef<'_>)
    -> impl Future<Output = Result<u64, Fault>> + Send;

    /// Opens the closed cell of this epoch at the greater of its value and `base`.
    fn install(
        &self,
        connection: &mut C,
        cell: CellRef<'_>,
        base: u64,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Raises an open cell of this epoch; returns its value afterwards. 0 only reads.
    fn lift(
        &self,
        connection: &mut C,
        cell: CellRef<'_>,
        floor: u64,
    ) -> impl Future<Output = Result<u64, Fault>> + Send;

    /// Removes the cell; returns whether there was one. The default keeps it.
    fn remove(&self, connection: &mut C, key: &Key) -> impl Future<Output = Result<bool, Fault>> + Send {
        let _ = (connection, key);
        std::future::ready(Ok(false))
    }
}

/// Reading of cells on a connection that can't change anything.
pub(crate) trait Examining<C>: Send + Sync + 'static {
    /// Whether cells can be listed. If not, a listing is answered as partial without a connection.
    const LISTS_CELLS: bool = true;

    /// Reads these cells.
    fn examine(
        &self,
        connection: &mut C,
        keys: &[Key],
    ) -> impl Future<Output = Result<Examination, Fault>> + Send;

    /// A page of the cells after `from`. The default is an empty page marked as partial.
    fn cells(
        &self,
        connection: &mut C,
        from: Option<&str>,
    ) -> impl Future<Output = Result<CellPage, Fault>> + Send {
        let _ = (connection, from);
        std::future::ready(Ok(unlisted()))
    }
}

/// The page of an engine that can't list its cells.
pub(super) fn unlisted() -> CellPage {
    CellPage { is_partial: true, ..CellPage::default() }
}
