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

use super::{CellRef, CellState, block};
use crate::net::Fault;

/// A cell as it was read, with the token that the engine needs to replace exactly that version.
#[derive(Debug, Clone)]
pub(crate) struct Seen<T> {
    pub(crate) state: CellState,
    /// A version given by the engine; `()` if the state itself is compared.
    pub(crate) token: T,
}

/// Cells that can be read, and replaced if they are unchanged, on connections of type `C`.
pub(crate) trait Registers<C>: Send + Sync {
    /// A token for one version of a cell.
    type Token: Send + Sync;

    /// Reads a cell, if there is one.
    fn read(
        &self,
        connection: &mut C,
        key: &Key,
    ) -> impl Future<Output = Result<Option<Seen<Self::Token>>, Fault>> + Send;

    /// Replaces a cell if it is still `seen`; `false` if another client was faster.
    fn swap(
        &self,
        connection: &mut C,
        key: &Key,
        seen: &Seen<Self::Token>,
        new: CellState,
    ) -> impl Future<Output = Result<bool, Fault>> + Send;
}

/// Adds `want` ids to an open cell of this epoch. Also returns the cell's new state. `hint` may be the state after the
/// last call: a correct one saves the read, and a wrong one costs a try.
pub(crate) async fn take<C: Send, E: Registers<C>>(
    engine: &E,
    connection: &mut C,
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

/// Closes the cell for its next epoch, whatever its state; returns its value. `None`: there is no cell, and
/// [`CellRef::closed_at`] 0 is to be created.
pub(crate) async fn close<C: Send, E: Registers<C>>(
    engine: &E,
    connection: &mut C,
    cell: CellRef<'_>,
) -> Result<Option<u64>, Fault> {
    let Some(seen) = engine.read(connection, cell.key).await? else { return Ok(None) };
    let value = seen.state.value;
    won(cell, engine.swap(connection, cell.key, &seen, cell.closed_at(value)).await?)?;
    Ok(Some(value))
}

/// Opens the closed cell of this epoch at the greater of its value and `base`. An open cell of this epoch stays as it
/// is.
pub(crate) async fn install<C: Send, E: Registers<C>>(
    engine: &E,
    connection: &mut C,
    cell: CellRef<'_>,
    base: u64,
) -> Result<(), Fault> {
    let CellRef { key, epoch } = cell;
    let own = engine.read(connection, key).await?.filter(|seen| seen.state.epoch == epoch);
    let seen = own.ok_or_else(|| cell.regressed(None))?;
    if seen.state.open {
        return Ok(());
    }
    let value = seen.state.value.max(base);
    won(cell, engine.swap(connection, key, &seen, CellState { epoch, open: true, value }).await?)
}

/// Raises an open cell of this epoch to `floor`; returns its value afterwards.
pub(crate) async fn lift<C: Send, E: Registers<C>>(
    engine: &E,
    connection: &mut C,
    cell: CellRef<'_>,
    floor: u64,
) -> Result<u64, Fault> {
    let seen = counting(cell, engine.read(connection, cell.key).await?)?;
    if seen.state.value >= floor {
        return Ok(seen.state.value);
    }
    let new = CellState { value: floor, ..seen.state };
    won(cell, engine.swap(connection, cell.key, &seen, new).await?)?;
    Ok(floor)
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
