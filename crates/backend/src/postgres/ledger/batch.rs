//! Rows in bulk: one statement for all counters of a call, as arrays.

use std::collections::BTreeMap;

use sequent_core::{
    Incarnation, Life,
    ledger::{Counter, Row},
};
use sqlx::{query, query_as};

use super::{capped, kept};
use crate::postgres::{fault::Fault, link::Link};

/// What a call knows of the counters that it names: a row each, or nothing.
pub(super) type Held = BTreeMap<Counter, Option<Row>>;

/// A row's columns; all `NULL` where there is none.
type Columns =
    (Option<i64>, Option<String>, Option<String>, Option<i64>, Option<i64>, Option<i64>, Option<i64>);

/// The rows of some counters, in the order of the asks.
pub(super) async fn read(link: &mut Link, counters: &[&Counter]) -> Result<Vec<Option<Row>>, Fault> {
    if counters.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT c.life, c.store, c.ledger, c.base, c.ceiling, c.seen, c.opened_at \
        FROM unnest($1::int4[], $2::bytea[]) WITH ORDINALITY AS a (slot, k, at) \
        LEFT JOIN counters c ON c.slot = a.slot AND c.k = a.k ORDER BY a.at";
    let (slots, keys) = names(counters);
    let rows: Vec<Columns> = link.session().rows(query_as(sql).bind(slots).bind(keys)).await?;
    Ok(rows.into_iter().map(row).collect())
}

/// The rows of all counters named, once each.
pub(super) async fn hold<'a>(
    link: &mut Link,
    counters: impl Iterator<Item = &'a Counter>,
) -> Result<Held, Fault> {
    let mut named: Vec<&Counter> = counters.collect();
    named.sort_unstable();
    named.dedup();
    let rows = read(link, &named).await?;
    Ok(named.into_iter().cloned().zip(rows).collect())
}

/// Adds ended lives to the history, in this order.
pub(super) async fn remember(link: &mut Link, ended: &[(&Counter, Row)]) -> Result<(), Fault> {
    if ended.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO history (slot, k, life, base, ceiling) \
        SELECT slot, k, life, base, ceiling \
        FROM unnest($1::int4[], $2::bytea[], $3::int8[], $4::int8[], $5::int8[]) \
        WITH ORDINALITY AS a (slot, k, life, base, ceiling, at) ORDER BY at";
    let (slots, keys) = names(&ended.iter().map(|(counter, _)| *counter).collect::<Vec<_>>());
    let each = |pick: fn(&Row) -> i64| ended.iter().map(|(_, row)| pick(row)).collect::<Vec<_>>();
    let query = query(sql).bind(slots).bind(keys).bind(each(|row| row.life.to_stored()));
    let query = query.bind(each(|row| capped(row.base))).bind(each(|row| capped(row.ceiling)));
    link.session().run(query).await?;
    Ok(())
}

/// Writes new lives over whatever was there; each counter once.
pub(super) async fn write(link: &mut Link, rows: &BTreeMap<&Counter, &Row>) -> Result<(), Fault> {
    if rows.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO counters (slot, k, life, store, ledger, base, ceiling, seen, opened_at, moved) \
        SELECT a.*, (SELECT version + 1 FROM meta) FROM unnest($1::int4[], $2::bytea[], $3::int8[], $4::text[], $5::text[], \
            $6::int8[], $7::int8[], $8::int8[], $9::int8[]) AS a \
        ON CONFLICT (slot, k) DO UPDATE SET life = excluded.life, store = excluded.store, \
            ledger = excluded.ledger, base = excluded.base, ceiling = excluded.ceiling, \
            seen = excluded.seen, opened_at = excluded.opened_at, moved = excluded.moved";
    let (slots, keys) = names(&rows.keys().copied().collect::<Vec<_>>());
    let each = |pick: fn(&Row) -> i64| rows.values().map(|row| pick(row)).collect::<Vec<_>>();
    let texts = |pick: fn(&Row) -> &str| rows.values().map(|row| pick(row).to_owned()).collect::<Vec<_>>();
    let query = query(sql).bind(slots).bind(keys).bind(each(|row| row.life.to_stored()));
    let query = query.bind(texts(|row| row.store.as_str())).bind(texts(|row| row.ledger.as_str()));
    let query = query.bind(each(|row| capped(row.base))).bind(each(|row| capped(row.ceiling)));
    link.session()
        .run(query.bind(each(|row| capped(row.seen))).bind(each(|row| capped(row.opened_at_ms))))
        .await?;
    Ok(())
}

/// Writes ceilings and `seen` where the row still holds the life; returns how many rows did.
pub(super) async fn widen(link: &mut Link, rows: &BTreeMap<&Counter, &Row>) -> Result<u64, Fault> {
    let sql = "UPDATE counters c SET ceiling = a.ceiling, seen = a.seen, \
            moved = (SELECT version + 1 FROM meta) \
        FROM unnest($1::int4[], $2::bytea[], $3::int8[], $4::int8[], $5::int8[]) \
        AS a (slot, k, life, ceiling, seen) WHERE c.slot = a.slot AND c.k = a.k AND c.life = a.life";
    let (slots, keys) = names(&rows.keys().copied().collect::<Vec<_>>());
    let each = |pick: fn(&Row) -> i64| rows.values().map(|row| pick(row)).collect::<Vec<_>>();
    let query = query(sql).bind(slots).bind(keys).bind(each(|row| row.life.to_stored()));
    link.session().run(query.bind(each(|row| capped(row.ceiling))).bind(each(|row| capped(row.seen)))).await
}

fn names(counters: &[&Counter]) -> (Vec<i32>, Vec<Vec<u8>>) {
    let slots = counters.iter().map(|counter| i32::from(counter.slot)).collect();
    let keys = counters.iter().map(|counter| counter.key.as_str().as_bytes().to_vec()).collect();
    (slots, keys)
}

fn row((life, store, ledger, base, ceiling, seen, opened_at): Columns) -> Option<Row> {
    Some(Row {
        life: Life::from_stored(life?),
        store: Incarnation::new(store?),
        ledger: Incarnation::new(ledger?),
        base: kept(base?),
        ceiling: kept(ceiling?),
        seen: kept(seen?),
        opened_at_ms: kept(opened_at?),
    })
}
