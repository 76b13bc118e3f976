//! Stores, written once for all engines: this module keeps the contract of [`Store`], and an engine brings the calls on
//! one connection.

pub(crate) mod cas;
mod cell;
mod operations;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) mod sql;

use std::{fmt, future::Future};

use sequent_core::{
    Block, BoxFuture, Cell, CellPage, Epoch, Examination, Examine, Inspection, InstanceId, Key, SlotIndex,
    SourceError, Stamp, Store,
};
use tokio::sync::MutexGuard;

use cell::fitting;
pub(crate) use cell::{CellState, Swapped, block, parse_stamp, regressed};
use operations::{Cells, Close, ExamineKeys, Inspect, Install, Lift, Mark, Remove, Siblings, StampIt, Take};

use crate::net::{Connections, Fault, TxMode};

/// The connection type of an engine.
pub(crate) type ConnectionOf<E> = <<E as StoreEngine>::Connections as Connections>::Connection;

/// An engine that can store cells. Each call runs on one connection; its contract is that of [`Store`].
///
/// Counts, bases and floors are at most [`Block::NUMBER_MAX`], and a count is at least 1. A call is repeated after a
/// fault that states that nothing was done.
pub(crate) trait StoreEngine: Send + Sync + 'static {
    /// The source of connections.
    type Connections: Connections;

    /// Transaction mode of `inspect` and of stamping.
    const INSPECT_MODE: TxMode = TxMode::Single;

    /// Transaction mode of `examine`.
    const LOOK_MODE: TxMode = TxMode::Single;

    /// Whether names contain the slot, so that several slots can share a database.
    const HAS_SIBLINGS: bool = false;

    /// Whether it can list its cells. If not, a listing is answered as partial without a connection.
    const LISTS_CELLS: bool = true;

    /// The connections of this store.
    fn connections(&self) -> &Self::Connections;

    /// Whether the engine can store a counter of this key.
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        let _ = key;
        Ok(())
    }

    /// Waits for the key's turn, on engines where concurrent takes of one key only slow each other down.
    fn turn(&self, key: &Key) -> impl Future<Output = Option<MutexGuard<'_, ()>>> + Send {
        let _ = key;
        std::future::ready(None)
    }

    /// Reads the store's identity, durability, clock and mark.
    fn inspect(
        &self,
        connection: &mut ConnectionOf<Self>,
    ) -> impl Future<Output = Result<Inspection, Fault>> + Send;

    /// Replaces the stamp if it is `expected`.
    fn swap_stamp(
        &self,
        connection: &mut ConnectionOf<Self>,
        expected: Option<&str>,
        new: &str,
    ) -> impl Future<Output = Result<Swapped, Fault>> + Send;

    /// Raises the mark to `version` and returns its value afterwards. 0 only reads.
    fn mark(
        &self,
        connection: &mut ConnectionOf<Self>,
        version: u64,
    ) -> impl Future<Output = Result<u64, Fault>> + Send;

    /// Adds to an open cell of this epoch.
    fn take(
        &self,
        connection: &mut ConnectionOf<Self>,
        key: &Key,
        epoch: Epoch,
        want: u64,
    ) -> impl Future<Output = Result<Block, Fault>> + Send;

    /// Closes the cell for the next epoch; returns its value.
    fn close(
        &self,
        connection: &mut ConnectionOf<Self>,
        key: &Key,
        next: Epoch,
    ) -> impl Future<Output = Result<u64, Fault>> + Send;

    /// Opens the closed cell of this epoch at the greater of its value and `base`.
    fn install(
        &self,
        connection: &mut ConnectionOf<Self>,
        key: &Key,
        epoch: Epoch,
        base: u64,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Raises an open cell of this epoch; returns its value afterwards. 0 only reads.
    fn lift(
        &self,
        connection: &mut ConnectionOf<Self>,
        key: &Key,
        epoch: Epoch,
        floor: u64,
    ) -> impl Future<Output = Result<u64, Fault>> + Send;

    /// Removes the cell; returns whether there was one. The default keeps it.
    fn remove(
        &self,
        connection: &mut ConnectionOf<Self>,
        key: &Key,
    ) -> impl Future<Output = Result<bool, Fault>> + Send {
        let _ = (connection, key);
        std::future::ready(Ok(false))
    }

    /// The stamps of the cluster's other slots, among the first `slots`, in the same database.
    fn siblings(
        &self,
        connection: &mut ConnectionOf<Self>,
        slots: SlotIndex,
    ) -> impl Future<Output = Result<Vec<Stamp>, Fault>> + Send {
        let _ = (connection, slots);
        std::future::ready(Ok(Vec::new()))
    }

    /// Reads these cells on a connection that can't change anything.
    fn examine(
        &self,
        connection: &mut ConnectionOf<Self>,
        keys: &[Key],
    ) -> impl Future<Output = Result<Examination, Fault>> + Send;

    /// A page of the cells after `from`. The default is an empty page marked as partial.
    fn cells(
        &self,
        connection: &mut ConnectionOf<Self>,
        from: Option<&str>,
    ) -> impl Future<Output = Result<CellPage, Fault>> + Send {
        let _ = (connection, from);
        std::future::ready(Ok(unlisted()))
    }
}

/// A store on an engine. The first call connects.
pub struct CoreStore<E>(pub(crate) E);

impl<E: StoreEngine> CoreStore<E> {
    /// Closes the connections. The next call opens another.
    pub async fn disconnect(&self) {
        self.0.connections().close().await;
    }
}

impl<E> fmt::Debug for CoreStore<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreStore").finish_non_exhaustive()
    }
}

impl<E: StoreEngine> Store for CoreStore<E> {
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        self.0.holds(key)
    }

    fn examiner(&self) -> Option<&dyn Examine> {
        Some(self)
    }

    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>> {
        Box::pin(self.0.connections().perform(Inspect { engine: &self.0 }))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        let (expected, new) = (expected.map(ToString::to_string), new.to_string());
        Box::pin(self.0.connections().perform(StampIt { engine: &self.0, under, expected, new }))
    }

    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let version = fitting("mark", &"the store", version)?;
            self.0.connections().perform(Mark { engine: &self.0, under, version }).await
        })
    }

    fn take<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>> {
        Box::pin(async move {
            let want = fitting("count", cell.key, want.max(1))?;
            let _turn = self.0.turn(cell.key).await;
            self.0.connections().perform(Take { engine: &self.0, cell, epoch, want }).await
        })
    }

    fn close<'a>(&'a self, cell: Cell<'a>, next: Epoch) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.0.connections().perform(Close { engine: &self.0, cell, next }))
    }

    fn install<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            let base = fitting("base", cell.key, base)?;
            self.0.connections().perform(Install { engine: &self.0, cell, epoch, base }).await
        })
    }

    fn lift<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        floor: u64,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let floor = fitting("floor", cell.key, floor)?;
            self.0.connections().perform(Lift { engine: &self.0, cell, epoch, floor }).await
        })
    }

    fn beside(&self, slots: SlotIndex) -> BoxFuture<'_, Result<Vec<Stamp>, SourceError>> {
        if E::HAS_SIBLINGS {
            Box::pin(self.0.connections().perform(Siblings { engine: &self.0, slots }))
        } else {
            Box::pin(std::future::ready(Ok(Vec::new())))
        }
    }

    fn remove<'a>(&'a self, cell: Cell<'a>) -> BoxFuture<'a, Result<bool, SourceError>> {
        Box::pin(self.0.connections().perform(Remove { engine: &self.0, cell }))
    }
}

impl<E: StoreEngine> Examine for CoreStore<E> {
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>> {
        Box::pin(self.0.connections().look(ExamineKeys { engine: &self.0, keys }))
    }

    fn cells<'a>(&'a self, from: Option<&'a str>) -> BoxFuture<'a, Result<CellPage, SourceError>> {
        if E::LISTS_CELLS {
            Box::pin(self.0.connections().look(Cells { engine: &self.0, from }))
        } else {
            Box::pin(std::future::ready(Ok(unlisted())))
        }
    }
}

/// The page of an engine that can't list its cells.
fn unlisted() -> CellPage {
    CellPage { is_partial: true, ..CellPage::default() }
}
