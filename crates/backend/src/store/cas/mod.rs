//! Cells on a compare-and-swap register: the four calls of a store, written once.
//!
//! An engine brings a [`Register`], which is one cell. It reads the cell, and replaces it if it is unchanged. This
//! module has the rest: which takes are allowed, what a close leaves, and how often a lost race is retried. An
//! in-memory register runs the whole conformance suite, which tests the algorithm without an engine.

#[cfg(test)]
mod test_model;
#[cfg(test)]
mod tests;

use std::future::Future;

use sequent_core::{Block, Epoch, ErrorKind, Key, SourceError};

use super::{CellState, block, regressed};

/// The most tries of a call after lost races. Sixteen clients on one register, each pausing after a loss, needed at
/// most 20.
pub(crate) const ROUNDS_MAX: u32 = 64;

/// A cell as it was read, with the token that the engine needs to replace exactly that version.
#[derive(Debug, Clone)]
pub(crate) struct Seen<T> {
    pub(crate) state: CellState,
    /// A version given by the engine; `()` if the state itself is compared.
    pub(crate) token: T,
}

/// One cell that can be read, and replaced if it is unchanged.
pub(crate) trait Register: Send {
    /// A token for one version of the cell.
    type Token: Send + Sync;
    /// The engine's error.
    type Fault: From<SourceError> + Send;

    /// Reads the cell, if there is one.
    fn read(&mut self) -> impl Future<Output = Result<Option<Seen<Self::Token>>, Self::Fault>> + Send;

    /// Replaces the cell if it is still `seen`; `false` if another client was faster.
    fn swap(
        &mut self,
        seen: &Seen<Self::Token>,
        new: CellState,
    ) -> impl Future<Output = Result<bool, Self::Fault>> + Send;

    /// Creates the cell; `false` if there is one already.
    fn add(&mut self, new: CellState) -> impl Future<Output = Result<bool, Self::Fault>> + Send;

    /// Pauses after a lost race, so that equal clients do not collide again.
    fn pause(&mut self) -> impl Future<Output = ()> + Send;
}

/// Adds `want` ids to an open cell of this epoch. Also returns the cell's new state. `hint` may be the state after the
/// last call: a correct one saves the read, and a wrong one costs a round.
pub(crate) async fn take<R: Register>(
    register: &mut R,
    key: &Key,
    epoch: Epoch,
    want: u64,
    mut hint: Option<Seen<R::Token>>,
) -> Result<(Block, CellState), R::Fault> {
    for _ in 0..ROUNDS_MAX {
        let guessed = hint.take();
        let seen = match guessed {
            Some(seen) if seen.state.counts_for(epoch) => seen,
            _ => demand(register.read().await?, key, epoch)?,
        };
        let CellState { value, .. } = seen.state;
        let last = value.checked_add(want).filter(|last| *last <= Block::NUMBER_MAX);
        let Some(last) = last else {
            let context = format!("{key}: {want} more than {value} is above {}", Block::NUMBER_MAX);
            return Err(SourceError::new(ErrorKind::Exhausted, context).into());
        };
        let block = block(last, want)?;
        let new = CellState { value: last, ..seen.state };
        if register.swap(&seen, new).await? {
            return Ok((block, new));
        }
        register.pause().await;
    }
    Err(contended(key).into())
}

/// Closes the cell for the next epoch, whatever its state; returns its value.
pub(crate) async fn close<R: Register>(register: &mut R, key: &Key, next: Epoch) -> Result<u64, R::Fault> {
    for _ in 0..ROUNDS_MAX {
        let (value, done) = match register.read().await? {
            None => (0, register.add(CellState { epoch: next, open: false, value: 0 }).await?),
            Some(seen) => {
                let value = seen.state.value;
                (value, register.swap(&seen, CellState { epoch: next, open: false, value }).await?)
            }
        };
        if done {
            return Ok(value);
        }
        register.pause().await;
    }
    Err(contended(key).into())
}

/// Opens the closed cell of this epoch at the greater of its value and `base`. An open cell of this epoch stays as it
/// is.
pub(crate) async fn install<R: Register>(
    register: &mut R,
    key: &Key,
    epoch: Epoch,
    base: u64,
) -> Result<(), R::Fault> {
    for _ in 0..ROUNDS_MAX {
        let seen = register.read().await?;
        let seen =
            seen.filter(|seen| seen.state.epoch == epoch).ok_or_else(|| regressed(key, epoch, None))?;
        if seen.state.open {
            return Ok(());
        }
        let value = seen.state.value.max(base);
        if register.swap(&seen, CellState { epoch, open: true, value }).await? {
            return Ok(());
        }
        register.pause().await;
    }
    Err(contended(key).into())
}

/// Raises an open cell of this epoch to `floor`; returns its value afterwards.
pub(crate) async fn lift<R: Register>(
    register: &mut R,
    key: &Key,
    epoch: Epoch,
    floor: u64,
) -> Result<u64, R::Fault> {
    for _ in 0..ROUNDS_MAX {
        let seen = demand(register.read().await?, key, epoch)?;
        if seen.state.value >= floor {
            return Ok(seen.state.value);
        }
        if register.swap(&seen, CellState { value: floor, ..seen.state }).await? {
            return Ok(floor);
        }
        register.pause().await;
    }
    Err(contended(key).into())
}

/// The cell, if it is open and of this epoch.
fn demand<T>(seen: Option<Seen<T>>, key: &Key, epoch: Epoch) -> Result<Seen<T>, SourceError> {
    match seen {
        Some(seen) if seen.state.counts_for(epoch) => Ok(seen),
        other => Err(regressed(key, epoch, other.map(|seen| seen.state))),
    }
}

fn contended(key: &Key) -> SourceError {
    let context = format!("{key}: others were faster {ROUNDS_MAX} times");
    SourceError::new(ErrorKind::Contended, context)
}
