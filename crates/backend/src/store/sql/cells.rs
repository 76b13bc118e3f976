//! Cell calls of SQL stores, one statement each. Race tests on real servers and files found no id twice in an epoch,
//! and every close at or above all ids taken.

use sequent_core::{Block, Epoch, ErrorKind, Key, SourceError};

use super::StoreSession;
use crate::{
    net::Fault,
    store::{CellState, block, regressed},
};

/// The most tries of a take that gave nothing but then found its cell open.
const TAKE_TRIES_MAX: u32 = 3;

/// The row of a key.
struct Found {
    epoch: Epoch,
    open: bool,
    value: i64,
}

impl Found {
    /// The state of the row. Only an operator can write a value below zero. No id was taken from it, so it counts as 0.
    fn state(&self) -> CellState {
        CellState { epoch: self.epoch, open: self.open, value: u64::try_from(self.value).unwrap_or(0) }
    }
}

async fn find<S: StoreSession>(session: &mut S, key: &Key) -> Result<Option<Found>, Fault> {
    let Some(mut row) = session.read(S::STATEMENTS.cell, vec![S::text(key.as_str())]).await? else {
        return Ok(None);
    };
    let Some(epoch) = row.maybe_int()? else { return Ok(None) };
    Ok(Some(Found { epoch: Epoch::from_stored(epoch), open: row.int()? != 0, value: row.int()? }))
}

/// The cell of a key.
pub(crate) async fn cell<S: StoreSession>(session: &mut S, key: &Key) -> Result<Option<CellState>, Fault> {
    Ok(find(session, key).await?.map(|found| found.state()))
}

/// The error of a call that touched no row, from what the row holds now.
async fn regressed_cell<S: StoreSession>(session: &mut S, key: &Key, epoch: Epoch) -> Result<Fault, Fault> {
    Ok(regressed(key, epoch, cell(session, key).await?).into())
}

pub(super) async fn take<S: StoreSession>(
    session: &mut S,
    key: &Key,
    epoch: Epoch,
    want: u64,
) -> Result<Block, Fault> {
    for _ in 0..TAKE_TRIES_MAX {
        let params = vec![want.into(), S::text(key.as_str()), epoch.to_stored().into()];
        let taken = session.change(S::STATEMENTS.take, params).await;
        if let Some(last) = taken.map_err(|fault| named(fault, key))? {
            return Ok(block(last, want)?);
        }
        if let Some(error) = refusal(find(session, key).await?, key, epoch, want) {
            return Err(error.into());
        }
    }
    let context = format!("{key} in epoch {epoch}: its cell was opened amid each of {TAKE_TRIES_MAX} takes");
    Err(SourceError::new(ErrorKind::Contended, context).into())
}

/// The error of a take that gave nothing, from the row read after it. `None` if that row could have given: another
/// process opened it meanwhile.
fn refusal(found: Option<Found>, key: &Key, epoch: Epoch, want: u64) -> Option<SourceError> {
    let state = found.as_ref().map(Found::state);
    let counts = found.filter(|found| found.state().counts_for(epoch) && found.value >= 0);
    let Some(Found { value, .. }) = counts else { return Some(regressed(key, epoch, state)) };
    let has_room = value.checked_add_unsigned(want).is_some();
    let context = format!("{key}: {want} more than {value} is above {}", Block::NUMBER_MAX);
    (!has_room).then(|| SourceError::new(ErrorKind::Exhausted, context))
}

/// Adds the key to an error, since the server does not name it.
fn named(fault: Fault, key: &Key) -> Fault {
    match fault {
        Fault::Answer(error) => Fault::Answer(error.during(key)),
        fault => fault,
    }
}

pub(super) async fn close<S: StoreSession>(session: &mut S, key: &Key, next: Epoch) -> Result<u64, Fault> {
    let params = vec![S::text(key.as_str()), next.to_stored().into()];
    let closed = session.change(S::STATEMENTS.close, params).await?;
    closed.ok_or_else(|| Fault::stale("the tables are other ones now"))
}

pub(super) async fn install<S: StoreSession>(
    session: &mut S,
    key: &Key,
    epoch: Epoch,
    base: u64,
) -> Result<(), Fault> {
    let params = vec![base.into(), S::text(key.as_str()), epoch.to_stored().into()];
    match session.change(S::STATEMENTS.install, params).await? {
        Some(_) => Ok(()),
        None => Err(regressed_cell(session, key, epoch).await?),
    }
}

pub(super) async fn lift<S: StoreSession>(
    session: &mut S,
    key: &Key,
    epoch: Epoch,
    floor: u64,
) -> Result<u64, Fault> {
    if floor == 0 {
        let found = cell(session, key).await?;
        let counts = found.filter(|state| state.counts_for(epoch));
        return Ok(counts.ok_or_else(|| regressed(key, epoch, found))?.value);
    }
    let params = vec![floor.into(), S::text(key.as_str()), epoch.to_stored().into()];
    match session.change(S::STATEMENTS.lift, params).await? {
        Some(held) => Ok(held),
        None => Err(regressed_cell(session, key, epoch).await?),
    }
}

pub(super) async fn remove<S: StoreSession>(session: &mut S, key: &Key) -> Result<bool, Fault> {
    match session.execute(S::STATEMENTS.remove, vec![S::text(key.as_str())]).await {
        Ok(gone) => Ok(gone > 0),
        // Only this call needs the privilege to delete. Without it, cells are kept.
        Err(Fault::Denied(_)) => Ok(false),
        Err(fault) => Err(fault),
    }
}
