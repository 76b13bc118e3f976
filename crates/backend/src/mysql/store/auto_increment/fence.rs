//! Close, install and lift of a key with a table: first the fence, then the anchor, then the table.

use sequent_core::{Epoch, Key};

use super::{
    super::InPlace,
    NOW, regressed_table,
    shape::{self, of_table},
    siblings,
    table::{KeyTable, KeyTables},
};
use crate::{
    mysql::{connection::Connection, fault::ER_NO_SUCH_TABLE},
    net::Fault,
    sql::SqlSession,
    store::sql::{Counting, StoreSession},
};

pub(super) async fn close(
    connection: &mut Connection,
    key: &Key,
    next: Epoch,
    (tables, table): (&KeyTables, &KeyTable),
) -> Result<u64, Fault> {
    // Waits for takes in flight, so the read of the table sees all ids that they gave.
    let anchor = InPlace.close(connection, key, next).await?;
    siblings::check(connection, key, (tables, table), anchor == 0).await?;
    shape::settle(connection, key, table).await?;
    // Of a table that another program inserts into, too, this is a lower bound: the server gives no id twice.
    let row = connection.only(&table.highest_of_all(), Vec::new()).await;
    let highest = row.map_err(|fault| of_table(key, table, fault))?.count()?;
    Ok(highest.max(anchor))
}

pub(super) async fn install(
    connection: &mut Connection,
    key: &Key,
    epoch: Epoch,
    base: u64,
    table: &KeyTable,
) -> Result<(), Fault> {
    // The anchor is written first: a fence without an anchor counts as closed, even if its row is open.
    let sql = format!(
        "INSERT IGNORE INTO {} (id, generate_time) SELECT GREATEST(c.v, ?), {NOW} FROM sequent_cells c \
        WHERE c.k = ? AND c.epoch = ? AND c.open = 0 LOCK IN SHARE MODE",
        table.sql()
    );
    let params = vec![base.into(), key.as_str().into(), epoch.to_stored().into()];
    match connection.execute(&sql, params.clone()).await {
        Err(fault) if fault.is(ER_NO_SUCH_TABLE) => {
            return Err(regressed_table(connection, key, epoch, table).await?);
        }
        done => done.map_err(|fault| of_table(key, table, fault))?,
    };
    match connection.change(Connection::STATEMENTS.install, params).await? {
        Some(_) => Ok(()),
        None => Err(regressed_table(connection, key, epoch, table).await?),
    }
}

pub(super) async fn lift(
    connection: &mut Connection,
    key: &Key,
    epoch: Epoch,
    floor: u64,
    table: &KeyTable,
) -> Result<u64, Fault> {
    let held = held(connection, key, epoch, table).await?;
    if held >= floor {
        return Ok(held);
    }
    let sql = format!(
        "INSERT IGNORE INTO {table} (id, generate_time) SELECT ?, {NOW} FROM sequent_cells c JOIN {table} a ON a.id = c.v \
        WHERE c.k = ? AND c.epoch = ? AND c.open = 1 LOCK IN SHARE MODE",
        table = table.sql()
    );
    let params = vec![floor.into(), key.as_str().into(), epoch.to_stored().into()];
    connection.execute(&sql, params).await.map_err(|fault| of_table(key, table, fault))?;
    let held = self::held(connection, key, epoch, table).await?;
    if held >= floor {
        return Ok(held);
    }
    Err(Fault::away(format!("{key}: {held} is held after a lift to {floor}")))
}

/// The highest id, if fence and anchor are valid.
async fn held(connection: &mut Connection, key: &Key, epoch: Epoch, table: &KeyTable) -> Result<u64, Fault> {
    let params = vec![key.as_str().into(), epoch.to_stored().into()];
    match connection.row(&table.highest_of_epoch(), params).await {
        Ok(Some(mut row)) => Ok(row.count()?),
        Ok(None) => Err(regressed_table(connection, key, epoch, table).await?),
        Err(fault) if fault.is(ER_NO_SUCH_TABLE) => {
            Err(regressed_table(connection, key, epoch, table).await?)
        }
        Err(fault) => Err(of_table(key, table, fault)),
    }
}
