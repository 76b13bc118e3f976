//! Loading ledger records from SQL tables.

use std::time::Duration;

use sequent_core::{
    Epoch, InstanceId, Key, SlotIndex, SourceError,
    ledger::{Counter, Moved, PastEpoch, Row},
};

use super::{Hold, Keys, LedgerSession, Records, Scan, Selection};
use crate::{
    ledger::{DenseCount, documents::LAYOUT},
    net::Fault,
    sql::{SqlRow, Value},
};

/// How often a row locked by another client is read again, and the pause between.
const LOCKED_LOOKS: u32 = 3;
const LOCKED_PAUSE: Duration = Duration::from_millis(1);

/// Reads the records of a selection. Dense counters stay locked until the transaction ends.
pub(super) async fn load<S: LedgerSession>(
    session: &mut S,
    hold: Hold,
    selection: &Selection<'_>,
) -> Result<Records, Fault> {
    let sql = S::STATEMENTS;
    let (token, clock_ms) = session.hold(hold).await?;
    let mut records = Records::of(session.instance_of(&token), clock_ms);
    let server = selection.server.map(|server| server.0.cast_signed());
    if let Some(row) = session.rows(sql.head, vec![server.into()]).await?.into_iter().next() {
        head(row, &mut records)?;
    }
    let counters = selection.counters.iter().map(|counter| named::<S>(counter)).collect();
    for row in sql.read_counters.rows(session, counters).await? {
        let (counter, row) = counter_row(row)?;
        records.rows.insert(counter, row);
    }
    load_dense::<S>(session, selection, &mut records).await?;
    load_documents::<S>(session, selection, &mut records).await?;
    match selection.scan {
        Some(Scan::Rows { slot, keys, most }) => {
            list_counters(session, slot, keys, most, &mut records).await?;
        }
        Some(Scan::Dense { keys, most }) => {
            list_dense(session, keys, most, &mut records).await?;
        }
        Some(Scan::History(counter)) => {
            let [slot, key] = named::<S>(counter);
            let rows = session.rows(sql.history, vec![key, slot]).await?;
            records.history = rows.into_iter().map(past_epoch).collect::<Result<_, _>>()?;
        }
        Some(Scan::Moved { since, most }) => {
            let rows = session.rows(sql.moved, vec![since.into(), limit(most)]).await?;
            records.moved = rows.into_iter().map(moved).collect::<Result<_, _>>()?;
        }
        None => {}
    }
    Ok(records)
}

/// Reads and locks dense counters. A row locked by another client is reported as locked and does not block the other
/// asks.
///
/// Servers lock the ledger before they count, so normally no row is locked here. But an engine may release the ledger
/// shortly before the rows, so a locked row is read again.
async fn load_dense<S: LedgerSession>(
    session: &mut S,
    selection: &Selection<'_>,
    records: &mut Records,
) -> Result<(), Fault> {
    let sql = S::STATEMENTS;
    let mut wanted: Vec<Key> = selection.dense.iter().map(|key| (*key).clone()).collect();
    for look in 1..=LOCKED_LOOKS {
        for row in sql.hold_dense.rows(session, named_keys::<S>(&wanted)).await? {
            let (key, count) = dense_row(row)?;
            records.dense.insert(key, count);
        }
        let Some(known) = sql.known_dense else { return Ok(()) };
        wanted.retain(|key| !records.dense.contains_key(key));
        let locked = known.rows(session, named_keys::<S>(&wanted)).await?;
        let locked = locked.into_iter().map(|mut row| Ok(Key::from_stored(&row.text()?)));
        wanted = locked.collect::<Result<_, SourceError>>()?;
        if wanted.is_empty() {
            return Ok(());
        }
        if look < LOCKED_LOOKS {
            tokio::time::sleep(LOCKED_PAUSE).await;
        }
    }
    records.locked_dense.extend(wanted);
    Ok(())
}

fn named_keys<S: LedgerSession>(keys: &[Key]) -> Vec<[Value; 1]> {
    keys.iter().map(|key| [S::text(key.as_str())]).collect()
}

async fn load_documents<S: LedgerSession>(
    session: &mut S,
    selection: &Selection<'_>,
    records: &mut Records,
) -> Result<(), Fault> {
    let sql = S::STATEMENTS;
    let names = selection.documents().iter().map(|name| [S::text(name)]).collect();
    let mut documents = sql.read_documents.rows(session, names).await?;
    for folder in selection.folders() {
        documents.extend(session.rows(sql.documents_in, folder_bounds::<S>(folder)).await?);
    }
    for mut row in documents {
        records.take_document(&row.text()?, row.text()?.as_bytes())?;
    }
    Ok(())
}

/// The bounds of the names in a folder. After `/` comes `0`.
pub(super) fn folder_bounds<S: LedgerSession>(folder: &str) -> Vec<Value> {
    vec![S::text(folder), S::text(&folder.replace('/', "0"))]
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

/// A counter as parameters of a statement.
pub(super) fn named<S: LedgerSession>(Counter { slot, key }: &Counter) -> [Value; 2] {
    [(*slot).into(), S::text(key.as_str())]
}

fn head(mut row: SqlRow, records: &mut Records) -> Result<(), SourceError> {
    records.nonce = row.maybe_int()?.map(i64::cast_unsigned);
    records.version = row.count()?;
    records.catalog = row.count()?;
    records.floor = row.count()?;
    records.accepted = row.maybe_text()?.map(InstanceId::new);
    if let Some(layout) = row.maybe_text()? {
        records.take_document(LAYOUT, layout.as_bytes())?;
    }
    Ok(())
}

/// Parses a counter with its row.
fn counter_row(mut row: SqlRow) -> Result<(Counter, Row), SourceError> {
    let counter = Counter { slot: row.small("slot")?, key: Key::from_stored(&row.text()?) };
    let row = Row {
        epoch: Epoch::from_stored(row.int()?),
        store: InstanceId::new(row.text()?),
        ledger: InstanceId::new(row.text()?),
        base: row.count()?,
        ceiling: row.count()?,
        seen: row.count()?,
        opened_at_ms: row.count()?,
    };
    Ok((counter, row))
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

/// Parses a dense counter.
fn dense_row(mut row: SqlRow) -> Result<(Key, DenseCount), SourceError> {
    let key = Key::from_stored(&row.text()?);
    Ok((key, DenseCount { value: row.count()?, begun_at_ms: row.count()? }))
}
