//! Close, install and lift of a key with a table: first the fence, then the anchor, then the table.

use sequent_core::{Epoch, Key};

use super::{
    super::InPlace,
    NOW, regressed_table,
    rules::{self, missing_table},
    shape::{self, of_table, unfit},
    table::KeyTable,
};
use crate::{
    mysql::{
        connection::Connection,
        fault::{ER_DUP_ENTRY, ER_NO_SUCH_TABLE},
    },
    net::Fault,
    sql::{SqlSession, Value},
    store::sql::{Counting, StoreSession},
};

pub(super) async fn close(
    connection: &mut Connection,
    key: &Key,
    next: Epoch,
    table: &KeyTable,
) -> Result<u64, Fault> {
    // Waits for takes in flight, so the read of the table sees all ids that they gave.
    let anchor = InPlace.close(connection, key, next).await?;
    shape::settle(connection, key, table).await?;
    rules::check(connection, key, table).await?;
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
    if let Err(fault) = connection.execute(&sql, params.clone()).await {
        return Err(of_insertion(connection, (key, epoch), table, fault).await?);
    }
    check_anchor(connection, key, table, params.clone()).await?;
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
    if let Err(fault) = connection.execute(&sql, params).await {
        return Err(of_insertion(connection, (key, epoch), table, fault).await?);
    }
    let held = self::held(connection, key, epoch, table).await?;
    if held >= floor {
        return Ok(held);
    }
    let why = format!("a row with id {floor} was inserted, and {held} is its highest id: {UNKEPT}");
    Err(unfit(key, table, &why).into())
}

/// What to do if a table does not keep a row as it was inserted.
const UNKEPT: &str = "drop the trigger that sets id, or the unique index or CHECK that the row breaks";

/// Fails if the anchor of a cell that is about to open is not in the table: `INSERT IGNORE` passes over most of what
/// keeps it out. A cell of another epoch is told by the caller.
async fn check_anchor(
    connection: &mut Connection,
    key: &Key,
    table: &KeyTable,
    params: Vec<Value>,
) -> Result<(), Fault> {
    let sql = format!(
        "SELECT GREATEST(c.v, ?), a.id IS NOT NULL FROM sequent_cells c LEFT JOIN {} a ON a.id = GREATEST(c.v, ?) \
        WHERE c.k = ? AND c.epoch = ? AND c.open = 0",
        table.sql()
    );
    let params = params.first().cloned().into_iter().chain(params).collect();
    let row = connection.row(&sql, params).await.map_err(|fault| of_table(key, table, fault))?;
    let Some(mut row) = row else { return Ok(()) };
    let (id, is_there) = (row.count()?, row.int()? != 0);
    let why = || format!("the first row of an epoch, with id {id}, is not in it: {UNKEPT}");
    if is_there { Ok(()) } else { Err(unfit(key, table, &why()).into()) }
}

/// The error of an insertion with an id, which passes over that id if it exists.
async fn of_insertion(
    connection: &mut Connection,
    counter: (&Key, Epoch),
    table: &KeyTable,
    fault: Fault,
) -> Result<Fault, Fault> {
    match fault {
        Fault::Server(ER_NO_SUCH_TABLE, _, cause) => missing_table(connection, counter, table, &cause).await,
        Fault::Server(ER_DUP_ENTRY, _, cause) => {
            Ok(unfit(counter.0, table, &format!("a trigger of it fails: {cause}")).into())
        }
        fault => Ok(of_table(counter.0, table, fault)),
    }
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
