//! Cell calls of SQL stores, one statement each. Race tests on real servers and files found no id twice in an epoch,
//! and every close at or above all ids taken.

use sequent_core::{Block, Epoch, Key};

use super::{InPlace, StoreSession};
use crate::{
    net::Fault,
    store::{CellRef, CellState, Counting, block},
};

/// The cell of a key, and its value as the row has it.
async fn find<S: StoreSession>(session: &mut S, key: &Key) -> Result<Option<(CellState, i64)>, Fault> {
    let Some(mut row) = session.read(S::STATEMENTS.cell, vec![S::text(key.as_str())]).await? else {
        return Ok(None);
    };
    let Some(epoch) = row.maybe_int()? else { return Ok(None) };
    let (open, held) = (row.int()? != 0, row.int()?);
    // Only an operator can write a value below zero. No id was taken from it, so it counts as 0.
    let value = u64::try_from(held).unwrap_or(0);
    Ok(Some((CellState { epoch: Epoch::from_stored(epoch), open, value }, held)))
}

/// The cell of a key.
pub(crate) async fn cell<S: StoreSession>(session: &mut S, key: &Key) -> Result<Option<CellState>, Fault> {
    Ok(find(session, key).await?.map(|(state, _)| state))
}

/// Runs a statement on the cell; `None` if it was refused.
async fn change<S: StoreSession>(
    session: &mut S,
    sql: &'static str,
    number: u64,
    cell: CellRef<'_>,
) -> Result<Option<u64>, Fault> {
    let params = vec![number.into(), S::text(cell.key.as_str()), cell.epoch.to_stored().into()];
    session.change(sql, params).await
}

/// The fault of a take that gave nothing, from the row read after it.
fn refusal(found: Option<(CellState, i64)>, cell: CellRef<'_>, want: u64) -> Fault {
    let state = found.map(|(state, _)| state);
    match found {
        Some((_, held)) if cell.counts(state) && held >= 0 => match held.checked_add_unsigned(want) {
            None => cell.exhausted(want, held.unsigned_abs()).into(),
            // Another process opened it meanwhile. The take has done nothing, and is repeated.
            Some(_) => Fault::Busy(format!("{cell}: the cell was opened amid a take").into()),
        },
        _ => cell.regressed(state).into(),
    }
}

impl<S: StoreSession> Counting<S> for InPlace {
    async fn take(&self, session: &mut S, cell: CellRef<'_>, want: u64) -> Result<Block, Fault> {
        match change(session, S::STATEMENTS.take, want, cell).await {
            Ok(Some(last)) => Ok(block(last, want)?),
            Ok(None) => Err(refusal(find(session, cell.key).await?, cell, want)),
            // The server does not name the key.
            Err(Fault::Answer(error)) => Err(error.during(cell.key).into()),
            Err(fault) => Err(fault),
        }
    }

    async fn close(&self, session: &mut S, CellRef { key, epoch }: CellRef<'_>) -> Result<u64, Fault> {
        let params = vec![S::text(key.as_str()), epoch.to_stored().into()];
        let closed = session.change(S::STATEMENTS.close, params).await?;
        closed.ok_or_else(|| Fault::stale("the tables are other ones now"))
    }

    async fn install(&self, session: &mut S, cell: CellRef<'_>, base: u64) -> Result<(), Fault> {
        match change(session, S::STATEMENTS.install, base, cell).await? {
            Some(_) => Ok(()),
            None => Err(cell.regressed(self::cell(session, cell.key).await?).into()),
        }
    }

    async fn lift(&self, session: &mut S, cell: CellRef<'_>, floor: u64) -> Result<u64, Fault> {
        if floor > 0
            && let Some(held) = change(session, S::STATEMENTS.lift, floor, cell).await?
        {
            return Ok(held);
        }
        let found = self::cell(session, cell.key).await?;
        match found.filter(|state| floor == 0 && cell.counts(Some(*state))) {
            Some(state) => Ok(state.value),
            None => Err(cell.regressed(found).into()),
        }
    }

    async fn remove(&self, session: &mut S, key: &Key) -> Result<bool, Fault> {
        match session.execute(S::STATEMENTS.remove, vec![S::text(key.as_str())]).await {
            Ok(gone) => Ok(gone > 0),
            // Only this call needs the privilege to delete. Without it, cells are kept.
            Err(Fault::Denied(_)) => Ok(false),
            Err(fault) => Err(fault),
        }
    }
}
