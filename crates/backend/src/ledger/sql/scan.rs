//! Listing ledger records of SQL tables.

use sequent_core::{
    Epoch, Key, SlotIndex, SourceError,
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
        Scan::Rows { slot, keys, most } => list_counters(session, slot, keys, most, records).await?,
        Scan::Dense { keys, most } => list_dense(session, keys, most, records).await?,
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

async fn list_counters<S: LedgerSession>(
    session: &mut S,
    slot: Option<SlotIndex>,
    keys: Keys<'_>,
    most: usize,
    records: &mut Records,
) -> Result<(), Fault> {
    let sql = S::STATEMENTS;
    let (sql, mut params) = match keys {
        Keys::All => (sql.all_counters, Vec::new()),
        Keys::Of(name) => (sql.counters_of, keys_of::<S>(name)),
        Keys::Between(from, below) => {
            (sql.counters_between, vec![slot.into(), S::text(from), S::text(below)])
        }
    };
    params.push(limit(most));
    for row in session.rows(sql, params).await? {
        let (counter, row) = counter_row(row)?;
        records.rows.insert(counter, row);
    }
    Ok(())
}

async fn list_dense<S: LedgerSession>(
    session: &mut S,
    keys: Keys<'_>,
    most: usize,
    records: &mut Records,
) -> Result<(), Fault> {
    let sql = S::STATEMENTS;
    let (sql, mut params) = match keys {
        Keys::All => (sql.all_dense, Vec::new()),
        Keys::Of(name) => (sql.dense_of, keys_of::<S>(name)),
        Keys::Between(from, below) => (sql.dense_between, vec![S::text(from), S::text(below)]),
    };
    params.push(limit(most));
    for row in session.rows(sql, params).await? {
        let (key, count) = dense_row(row)?;
        records.dense.insert(key, count);
    }
    Ok(())
}

/// A key, and those that begin with it and `|`, after which comes `}`.
fn keys_of<S: LedgerSession>(name: &str) -> Vec<Value> {
    vec![S::text(name), S::text(&format!("{name}|")), S::text(&format!("{name}}}"))]
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
