//! Listing ledger records of SQL tables.

use sequent_core::{
    Epoch, Key, SourceError,
    ledger::{Counter, Moved, PastEpoch},
};

use super::{
    Keys, LedgerSession, Records, Scan,
    load::{counter_row, dense_row, named},
};
use crate::{
    net::Fault,
    sql::{SqlRow, Value},
};

/// Lists the records of a scan.
pub(super) async fn list<S: LedgerSession>(
    session: &mut S,
    scan: &Scan<'_>,
    records: &mut Records,
) -> Result<(), Fault> {
    let sql = S::STATEMENTS;
    match *scan {
        Scan::Rows { slot, keys, most } => {
            let sql = match keys {
                Keys::All => sql.all_counters,
                Keys::Of(_) => sql.counters_of,
                Keys::Between(..) => sql.counters_between,
            };
            let params = slot.map(Value::from).into_iter().chain(bounds::<S>(keys)).chain([limit(most)]);
            let rows = session.rows(sql, params.collect()).await?;
            records.rows = rows.into_iter().map(counter_row).collect::<Result<_, _>>()?;
        }
        Scan::Dense { keys, most } => {
            let sql = match keys {
                Keys::All => sql.all_dense,
                Keys::Of(_) => sql.dense_of,
                Keys::Between(..) => sql.dense_between,
            };
            let params = bounds::<S>(keys).into_iter().chain([limit(most)]);
            let rows = session.rows(sql, params.collect()).await?;
            records.dense = rows.into_iter().map(dense_row).collect::<Result<_, _>>()?;
        }
        Scan::History(counter) => {
            let [slot, key] = named::<S>(counter);
            let rows = session.rows(sql.history, vec![key, slot]).await?;
            records.history = rows.into_iter().map(past_epoch).collect::<Result<_, _>>()?;
        }
        Scan::Moved { since, most } => {
            let rows = session.rows(sql.moved, vec![since.into(), limit(most)]).await?;
            records.moved = rows.into_iter().map(moved).collect::<Result<_, _>>()?;
        }
    }
    Ok(())
}

/// The parameters of a range of keys. After `|`, which ends a sequence's name, comes `}`.
fn bounds<S: LedgerSession>(keys: Keys<'_>) -> Vec<Value> {
    match keys {
        Keys::All => Vec::new(),
        Keys::Of(name) => vec![S::text(name), S::text(&format!("{name}|")), S::text(&format!("{name}}}"))],
        Keys::Between(from, below) => vec![S::text(from), S::text(below)],
    }
}

fn limit(most: usize) -> Value {
    Value::from(most as u64)
}

/// Parses a changed counter.
fn moved(mut row: SqlRow) -> Result<Moved, SourceError> {
    Ok(Moved {
        counter: Counter { slot: row.small("slot")?, key: Key::from_stored(&row.text()?) },
        epoch: Epoch::from_stored(row.int()?),
        seen: row.count()?,
        version: row.count()?,
    })
}

/// Parses an ended epoch.
fn past_epoch(mut row: SqlRow) -> Result<PastEpoch, SourceError> {
    Ok(PastEpoch { epoch: Epoch::from_stored(row.int()?), base: row.count()?, ceiling: row.count()? })
}
