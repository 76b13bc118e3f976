//! Saving ledger changes to SQL tables.

use sequent_core::{
    InstanceId, Key,
    ledger::{Counter, Row},
};

use super::{
    LedgerSession, Records,
    load::{folder_bounds, named},
};
use crate::{
    ledger::{Changes, DenseCount},
    net::Fault,
    sql::Value,
};

/// Number of servers' rows that are kept however old they are, so that a server suspended for days is still known when
/// it wakes. Above it, the longest silent rows are removed. A server that wakes without its row takes the ledger for a
/// restored one: every counter begins a new epoch. No number repeats; the unused part below the ceilings is lost.
const SERVERS_KEPT: i64 = 1024;

/// The most old rows that one enlistment removes: far more than the one it adds, and quick.
const SERVERS_PURGED_MAX: i64 = 256;

/// Writes the changes of records that the same transaction read.
pub(super) async fn save<S: LedgerSession>(session: &mut S, records: &Records) -> Result<(), Fault> {
    save_session::<S>(session, records).await?;
    save_rows::<S>(session, records).await?;
    save_documents::<S>(session, &records.changes).await?;
    save_meta::<S>(session, records).await
}

async fn save_session<S: LedgerSession>(session: &mut S, records: &Records) -> Result<(), Fault> {
    let (sql, changes) = (S::STATEMENTS, &records.changes);
    if let Some(oldest_ms) = changes.servers_silent_since_ms {
        let params = vec![oldest_ms.into(), SERVERS_KEPT.into(), SERVERS_PURGED_MAX.into()];
        session.execute(sql.purge_servers, params).await?;
    }
    if let Some((server, nonce)) = changes.nonce {
        let params = vec![server.0.cast_signed().into(), nonce.cast_signed().into(), records.clock_ms.into()];
        session.execute(sql.write_server, params).await?;
    }
    Ok(())
}

async fn save_rows<S: LedgerSession>(session: &mut S, records: &Records) -> Result<(), Fault> {
    let (sql, changes) = (S::STATEMENTS, &records.changes);
    let past = changes.ended.iter().map(|(counter, past)| {
        let [slot, key] = named::<S>(counter);
        [slot, key, past.epoch.to_stored().into(), past.base.into(), past.ceiling.into()]
    });
    sql.write_history.execute(session, past.collect()).await?;
    let gone = changes.rows.iter().filter(|counter| !records.rows.contains_key(*counter));
    sql.delete_counters.execute(session, gone.map(named::<S>).collect()).await?;
    let version = records.next_version();
    let written = changes.rows.iter().filter_map(|counter| Some((counter, records.rows.get(counter)?)));
    let written = written.map(|(counter, row)| written_row::<S>(counter, row, version));
    sql.write_counters.execute(session, written.collect()).await?;
    save_dense::<S>(session, records).await
}

fn written_row<S: LedgerSession>(counter: &Counter, row: &Row, version: u64) -> [Value; 10] {
    let [slot, key] = named::<S>(counter);
    [
        slot,
        key,
        row.epoch.to_stored().into(),
        row.store.as_str().into(),
        row.ledger.as_str().into(),
        row.base.into(),
        row.ceiling.into(),
        row.seen.into(),
        row.opened_at_ms.into(),
        version.into(),
    ]
}

async fn save_dense<S: LedgerSession>(session: &mut S, records: &Records) -> Result<(), Fault> {
    let (sql, changes) = (S::STATEMENTS, &records.changes);
    let counted = changes.dense.iter().filter_map(|key| Some((key, records.dense.get(key)?)));
    let (begun, counted): (Vec<_>, Vec<_>) = counted.partition(|(key, _)| changes.begun_dense.contains(*key));
    let values = |(key, count): (&Key, &DenseCount)| {
        [S::text(key.as_str()), count.value.into(), count.begun_at_ms.into()]
    };
    sql.write_dense.execute(session, counted.into_iter().map(values).collect()).await?;
    // A row that another client created meanwhile may have given more. This call then fails, and the next one reads
    // that row.
    let expected = begun.len();
    let touched = sql.begin_dense.execute(session, begun.into_iter().map(values).collect()).await?;
    if touched != expected as u64 {
        let cause =
            format!("{touched} of {expected} dense counters were there to be begun: somebody else writes");
        return Err(Fault::away(cause));
    }
    let expired: Vec<[Value; 2]> = changes.expired.iter().map(named::<S>).collect();
    sql.delete_counters.execute(session, expired.clone()).await?;
    sql.delete_history.execute(session, expired).await?;
    let dense = changes.expired_dense.iter().map(|key| [S::text(key.as_str())]);
    sql.delete_dense.execute(session, dense.collect()).await?;
    Ok(())
}

async fn save_documents<S: LedgerSession>(session: &mut S, changes: &Changes) -> Result<(), Fault> {
    let sql = S::STATEMENTS;
    if let Some(folder) = changes.emptied_folder() {
        session.execute(sql.delete_documents_in, folder_bounds::<S>(folder)).await?;
    }
    let deleted = changes.deleted_documents().map(|name| [S::text(&name)]);
    sql.delete_documents.execute(session, deleted.collect()).await?;
    let written = changes.written_documents();
    let written = written.iter().map(|(name, body)| [S::text(name), S::text(body)]);
    sql.write_documents.execute(session, written.collect()).await?;
    Ok(())
}

async fn save_meta<S: LedgerSession>(session: &mut S, records: &Records) -> Result<(), Fault> {
    let (sql, changes) = (S::STATEMENTS, &records.changes);
    if changes.tries_deleting {
        for of_nobody in sql.delete_none {
            session.execute(of_nobody, Vec::new()).await?;
        }
    }
    if changes_meta(changes) {
        let params = vec![
            records.next_version().into(),
            changes.catalog.unwrap_or(records.catalog).into(),
            changes.floor.unwrap_or(records.floor).into(),
            Value::maybe_text(changes.accepted.as_ref().map(InstanceId::as_str)),
            Value::maybe_text(changes.token.as_ref().map(|token| token.text.as_str())),
        ];
        session.execute(sql.write_meta, params).await?;
    }
    if changes.lost > 0 {
        for add in sql.add_loss {
            session.execute(add, vec![changes.lost.into()]).await?;
        }
    }
    Ok(())
}

fn changes_meta(changes: &Changes) -> bool {
    changes.version.is_some()
        || changes.catalog.is_some()
        || changes.floor.is_some()
        || changes.accepted.is_some()
        || changes.token.is_some()
}
