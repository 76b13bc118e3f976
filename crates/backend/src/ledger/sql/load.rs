//! Loading ledger records from SQL tables.

use std::time::Duration;

use sequent_core::{
    Epoch, InstanceId, Key, SourceError,
    ledger::{Counter, Row},
};

use super::{LedgerSession, Records, Selection, scan::list};
use crate::{
    ledger::{DenseCount, documents::LAYOUT},
    net::{Fault, TxMode},
    sql::{SqlRow, Value},
};

/// How often a row locked by another client is read again, and the pause between.
const LOCKED_LOOKS: u32 = 3;
const LOCKED_PAUSE: Duration = Duration::from_millis(1);

/// Reads the records of a selection. Dense counters stay locked until the transaction ends.
pub(super) async fn load<S: LedgerSession>(
    session: &mut S,
    mode: TxMode,
    selection: &Selection<'_>,
) -> Result<Records, Fault> {
    let sql = S::STATEMENTS;
    let (token, clock_ms) = session.hold(mode).await?;
    let mut records = Records::of(session.instance_of(&token), clock_ms);
    let server = selection.server.map(|server| server.0.cast_signed());
    if let Some(row) = session.row(sql.head, vec![server.into()]).await? {
        head(row, &mut records)?;
    }
    let counters = selection.counters.iter().map(|counter| named::<S>(counter)).collect();
    for row in sql.read_counters.rows(session, counters).await? {
        let (counter, row) = counter_row(row)?;
        records.rows.insert(counter, row);
    }
    load_dense::<S>(session, selection, &mut records).await?;
    load_documents::<S>(session, selection, &mut records).await?;
    if let Some(scan) = &selection.scan {
        list(session, scan, &mut records).await?;
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
pub(super) fn counter_row(mut row: SqlRow) -> Result<(Counter, Row), SourceError> {
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

/// Parses a dense counter.
pub(super) fn dense_row(mut row: SqlRow) -> Result<(Key, DenseCount), SourceError> {
    let key = Key::from_stored(&row.text()?);
    Ok((key, DenseCount { value: row.count()?, begun_at_ms: row.count()? }))
}
