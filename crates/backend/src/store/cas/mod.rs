//! Cells on a compare-and-swap register: the four calls of a store, written once.
//!
//! An engine brings [`Registers`]: it reads a cell, and replaces it if it is unchanged. This module has the rest: which
//! takes are allowed, and what a close leaves. A call that loses a race has done nothing and is repeated, as every
//! operation is ([`Fault::Busy`]). An in-memory register runs the whole conformance suite, which tests the algorithm
//! without an engine.

#[cfg(test)]
mod tests;

use std::{fmt::Display, future::Future};

use sequent_core::{Block, Key};
use tokio::sync::MutexGuard;

use super::{CellRef, CellState, Counting, block};
use crate::net::Fault;

/// A cell as it was read, with the token that the engine needs to replace exactly that version.
#[derive(Debug, Clone)]
pub(crate) struct Seen<T> {
    pub(crate) state: CellState,
    /// A version given by the engine; `()` if the state itself is compared.
    pub(crate) token: T,
}

/// Cells that can be read, and replaced if they are unchanged.
pub(crate) trait Registers: Send + Sync + 'static {
    /// The type of a connection.
    type Connection: Send;

    /// A token for one version of a cell.
    type Token: Send + Sync;

    /// Reads a cell, if there is one.
    fn read(
        &self,
        connection: &mut Self::Connection,
        key: &Key,
    ) -> impl Future<Output = Result<Option<Seen<Self::Token>>, Fault>> + Send;

    /// Replaces a cell if it is still `seen`; `false` if another client was faster.
    fn swap(
        &self,
        connection: &mut Self::Connection,
        key: &Key,
        seen: &Seen<Self::Token>,
        new: CellState,
    ) -> impl Future<Output = Result<bool, Fault>> + Send;

    /// Creates a cell; `false` if there is one already.
    fn add(
        &self,
        connection: &mut Self::Connection,
        key: &Key,
        new: CellState,
    ) -> impl Future<Output = Result<bool, Fault>> + Send;

    /// As [`Counting::turn`].
    fn turn(&self, key: &Key) -> impl Future<Output = Option<MutexGuard<'_, ()>>> + Send {
        let _ = key;
        std::future::ready(None)
    }

    /// As [`Counting::remove`].
    fn remove(
        &self,
        connection: &mut Self::Connection,
        key: &Key,
    ) -> impl Future<Output = Result<bool, Fault>> + Send {
        let _ = (connection, key);
        std::future::ready(Ok(false))
    }

    /// As [`Counting::take`]: an engine may have a faster way.
    fn take(
        &self,
        connection: &mut Self::Connection,
        cell: CellRef<'_>,
        want: u64,
    ) -> impl Future<Output = Result<Block, Fault>> + Send {
        async move { self::take(self, connection, cell, want, None).await.map(|(block, _)| block) }
    }
}

impl<E: Registers> Counting<E::Connection> for E {
    async fn turn(&self, key: &Key) -> Option<MutexGuard<'_, ()>> {
        Registers::turn(self, key).await
    }

    async fn take(
        &self,
        connection: &mut E::Connection,
        cell: CellRef<'_>,
        want: u64,
    ) -> Result<Block, Fault> {
        Registers::take(self, connection, cell, want).await
    }

    async fn close(&self, connection: &mut E::Connection, cell: CellRef<'_>) -> Result<u64, Fault> {
        let CellRef { key, epoch } = cell;
        let seen = self.read(connection, key).await?;
        let value = seen.as_ref().map_or(0, |seen| seen.state.value);
        let closed = CellState { epoch, open: false, value };
        won(
            cell,
            match &seen {
                None => self.add(connection, key, closed).await?,
                Some(seen) => self.swap(connection, key, seen, closed).await?,
            },
        )?;
        Ok(value)
    }

    /// An open cell of this epoch stays as it is.
    async fn install(
        &self,
        connection: &mut E::Connection,
        cell: CellRef<'_>,
        base: u64,
    ) -> Result<(), Fault> {
        let CellRef { key, epoch } = cell;
        let found = self.read(connection, key).await?;
        let own = found.filter(|seen| seen.state.epoch == epoch);
        let seen = own.ok_or_else(|| cell.regressed(None))?;
        if seen.state.open {
            return Ok(());
        }
        let value = seen.state.value.max(base);
        won(cell, self.swap(connection, key, &seen, CellState { epoch, open: true, value }).await?)
    }

    async fn lift(
        &self,
        connection: &mut E::Connection,
        cell: CellRef<'_>,
        floor: u64,
    ) -> Result<u64, Fault> {
        let seen = counting(cell, self.read(connection, cell.key).await?)?;
        if seen.state.value >= floor {
            return Ok(seen.state.value);
        }
        let new = CellState { value: floor, ..seen.state };
        won(cell, self.swap(connection, cell.key, &seen, new).await?)?;
        Ok(floor)
    }

    async fn remove(&self, connection: &mut E::Connection, key: &Key) -> Result<bool, Fault> {
        Registers::remove(self, connection, key).await
    }
}

/// Adds `want` ids to an open cell of this epoch. Also returns the cell's new state. `hint` may be the state after the
/// last call: a correct one saves the read, and a wrong one costs a try.
pub(crate) async fn take<E: Registers + ?Sized>(
    engine: &E,
    connection: &mut E::Connection,
    cell: CellRef<'_>,
    want: u64,
    hint: Option<Seen<E::Token>>,
) -> Result<(Block, CellState), Fault> {
    let seen = match hint.filter(|seen| cell.counts(Some(seen.state))) {
        Some(seen) => seen,
        None => counting(cell, engine.read(connection, cell.key).await?)?,
    };
    let CellState { value, .. } = seen.state;
    let last = value.checked_add(want).filter(|last| *last <= Block::NUMBER_MAX);
    let last = last.ok_or_else(|| cell.exhausted(want, value))?;
    let (block, new) = (block(last, want)?, CellState { value: last, ..seen.state });
    won(cell, engine.swap(connection, cell.key, &seen, new).await?)?;
    Ok((block, new))
}

/// The cell, if it is open and of this epoch.
fn counting<T>(cell: CellRef<'_>, seen: Option<Seen<T>>) -> Result<Seen<T>, Fault> {
    match seen {
        Some(seen) if cell.counts(Some(seen.state)) => Ok(seen),
        other => Err(cell.regressed(other.map(|seen| seen.state)).into()),
    }
}

/// Fails after a lost race: nothing was done, and the call is repeated.
pub(crate) fn won(what: impl Display, is_won: bool) -> Result<(), Fault> {
    if is_won { Ok(()) } else { Err(Fault::Busy(format!("{what}: another client was faster").into())) }
}
