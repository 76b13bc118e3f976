//! Loading ledger records from SQL tables.

use std::time::Duration;

use sequent_core::{
    Epoch, ErrorKind, InstanceId, Key, Layout, SourceError,
    ledger::{
        Counter, Definition, DenseRow, LayoutPage, Moved, NoteSubject, PastEpoch, ResizeStep, Row,
        SlotCommand, SlotVerb,
    },
};

use super::{Hold, LedgerSession, Records, Selection};
use crate::{
    ledger::DenseCount,
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
    let notes = selection.notes.iter().map(|about| [S::text(&about.to_stored())]).collect();
    let mut notes = sql.read_notes.rows(session, notes).await?;
    if selection.all_notes {
        notes = session.rows(sql.all_notes, Vec::new()).await?;
    }
    for mut row in notes {
        records.notes.insert(NoteSubject::from_stored(&row.text()?), row.count()?);
    }
    load_catalog::<S>(session, selection, &mut records).await?;
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
            let DenseRow { key, value, begun_at_ms } = dense_row(row)?;
            records.dense.insert(key, DenseCount { value, begun_at_ms });
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

async fn load_catalog<S: LedgerSession>(
    session: &mut S,
    selection: &Selection<'_>,
    records: &mut Records,
) -> Result<(), Fault> {
    let sql = S::STATEMENTS;
    if let Some(name) = selection.definition {
        let found = session.rows(sql.definition, vec![name.as_str().into()]).await?;
        records.definition = found.into_iter().next().map(definition).transpose()?;
    }
    if selection.all_definitions {
        let found = session.rows(sql.all_definitions, Vec::new()).await?;
        records.definitions = found.into_iter().map(definition).collect::<Result<_, _>>()?;
    }
    if selection.stores {
        for mut row in session.rows(sql.stores, Vec::new()).await? {
            records.stores.push((row.small("slot")?, InstanceId::new(row.text()?)));
        }
    }
    if selection.commands {
        let found = session.rows(sql.commands, Vec::new()).await?;
        records.commands = found.into_iter().map(command).collect::<Result<_, _>>()?;
    }
    Ok(())
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
    records.layout = layout(row)?;
    Ok(())
}

fn layout(mut row: SqlRow) -> Result<Option<LayoutPage>, SourceError> {
    let Some(cluster) = row.maybe_text()? else { return Ok(None) };
    let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
        SourceError::new(ErrorKind::Refused, "layout in the ledger").because(error)
    };
    let cluster = cluster.parse().map_err(|error: sequent_core::NameError| unreadable(error.into()))?;
    let bits = |n: i64, m: i64| {
        let [n, m] = [n, m].map(|bits| u8::try_from(bits).unwrap_or(u8::MAX));
        Layout::new(n, m).map_err(|error| unreadable(error.into()))
    };
    let layout = bits(row.int()?, row.int()?)?;
    let generation = row.count()?;
    let next = row.maybe_int()?.zip(row.maybe_int()?);
    let next = next.map(|(n, m)| bits(n, m)).transpose()?;
    let step = ResizeStep::from_stored(next, row.int()? != 0);
    let step = step.ok_or_else(|| unreadable("it is fenced, and has no next layout".into()))?;
    Ok(Some(LayoutPage { cluster, layout, generation, step }))
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

/// Parses a changed counter.
pub(super) fn moved(mut row: SqlRow) -> Result<Moved, SourceError> {
    Ok(Moved {
        counter: Counter { slot: row.small("slot")?, key: Key::from_stored(&row.text()?) },
        epoch: Epoch::from_stored(row.int()?),
        seen: row.count()?,
        version: row.count()?,
    })
}

/// Parses an ended epoch.
pub(super) fn past_epoch(mut row: SqlRow) -> Result<PastEpoch, SourceError> {
    Ok(PastEpoch { epoch: Epoch::from_stored(row.int()?), base: row.count()?, ceiling: row.count()? })
}

/// Parses a dense counter.
pub(super) fn dense_row(mut row: SqlRow) -> Result<DenseRow, SourceError> {
    Ok(DenseRow { key: Key::from_stored(&row.text()?), value: row.count()?, begun_at_ms: row.count()? })
}

fn definition(mut row: SqlRow) -> Result<Definition, SourceError> {
    let unreadable = |error| SourceError::new(ErrorKind::Refused, "definition in the ledger").because(error);
    let name = row.text()?.parse().map_err(|error: sequent_core::NameError| unreadable(error))?;
    Ok(Definition { name, version: row.small("a definition's version")?, body: row.text()? })
}

fn command(mut row: SqlRow) -> Result<SlotCommand, SourceError> {
    let (slot, verb) = (row.small("slot")?, row.text()?);
    let verb = SlotVerb::from_word(&verb).ok_or_else(|| {
        SourceError::new(ErrorKind::Refused, format!("command about slot {slot}: found verb {verb:?}"))
    })?;
    let (who, why) = (row.text()?, row.text()?);
    Ok(SlotCommand { slot, verb, who, why, at_ms: row.count()?, until_ms: row.maybe_count()? })
}
