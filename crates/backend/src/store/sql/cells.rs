//! The calls on cells, each one statement. They were raced on real servers and files: no id twice in an epoch, and every close covers
//! every id given.

use sequent_core::{Block, Epoch, ErrorKind, Key, SourceError};

use super::StoreSession;
use crate::{
    net::Fault,
    store::{CellState, block, regressed},
};

/// How often a take is made that found its cell closed, and then open.
const TAKE_TRIES_MAX: u32 = 3;

/// What the row of a key holds.
struct Found {
    epoch: Epoch,
    open: bool,
    value: i64,
}

impl Found {
    /// The same as other engines have it. A value is below zero only by hand, and then no id was given that it would have to cover.
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

/// What the cell of a key holds.
pub(crate) async fn cell<S: StoreSession>(session: &mut S, key: &Key) -> Result<Option<CellState>, Fault> {
    Ok(find(session, key).await?.map(|found| found.state()))
}

/// A call touched no row: what was found instead.
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

/// What a take that gave nothing is told, by what was found after it: nothing where the cell could have given, for another process has
/// opened it meanwhile.
fn refusal(found: Option<Found>, key: &Key, epoch: Epoch, want: u64) -> Option<SourceError> {
    let state = found.as_ref().map(Found::state);
    let counts = found.filter(|found| found.state().counts_for(epoch) && found.value >= 0);
    let Some(Found { value, .. }) = counts else { return Some(regressed(key, epoch, state)) };
    let has_room = value.checked_add_unsigned(want).is_some();
    let context = format!("{key}: {want} more than {value} is above {}", Block::NUMBER_MAX);
    (!has_room).then(|| SourceError::new(ErrorKind::Exhausted, context))
}

/// The server does not say which counter is at its end.
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
        // Nothing else needs that privilege: who does not grant it keeps the cells.
        Err(Fault::Denied(_)) => Ok(false),
        Err(fault) => Err(fault),
    }
}
