//! Cell calls of the Redis store, one script each.

use sequent_core::{Block, Epoch, ErrorKind, Key, SourceError, Why};

use super::Hashes;
use crate::{
    net::Fault,
    redis::{
        connection::Connection,
        names::CellNames,
        scripts::{CLOSE, INSTALL, LIFT, REMOVE, TAKE, Text},
    },
    store::{CellRef, CellState, Counting, block},
};

impl Counting<Connection> for Hashes {
    async fn take(&self, connection: &mut Connection, cell: CellRef<'_>, want: u64) -> Result<Block, Fault> {
        Ok(block(change(connection, cell, &TAKE, want).await?, want)?)
    }

    async fn close(&self, connection: &mut Connection, cell: CellRef<'_>) -> Result<u64, Fault> {
        let names = CellNames::of(&connection.owner, cell.key);
        let epoch = cell.epoch.to_stored().to_string();
        value_of(&connection.run(&CLOSE, Some(&names), &[&epoch]).await?, cell)
    }

    async fn install(&self, connection: &mut Connection, cell: CellRef<'_>, base: u64) -> Result<(), Fault> {
        change(connection, cell, &INSTALL, base).await.map(drop)
    }

    async fn lift(&self, connection: &mut Connection, cell: CellRef<'_>, floor: u64) -> Result<u64, Fault> {
        change(connection, cell, &LIFT, floor).await
    }

    async fn remove(&self, connection: &mut Connection, key: &Key) -> Result<bool, Fault> {
        let names = CellNames::of(&connection.owner, key);
        Ok(connection.run(&REMOVE, Some(&names), &[]).await? == ["ok", "1"])
    }
}

/// Runs a script that changes only an open cell of this epoch; returns the value afterwards.
async fn change(
    connection: &mut Connection,
    cell: CellRef<'_>,
    script: &Text,
    number: u64,
) -> Result<u64, Fault> {
    let names = CellNames::of(&connection.owner, cell.key);
    let args = [cell.epoch.to_stored().to_string(), number.to_string()];
    match connection.run(script, Some(&names), &args.each_ref().map(String::as_str)).await {
        Ok(answer) => value_of(&answer, cell),
        // The server names neither a counter at its end nor a key of another type.
        Err(Fault::Answer(error)) => Err(error.during(cell).into()),
        Err(fault) => Err(fault),
    }
}

/// The value of an answer, or the error for what was found instead of the cell.
fn value_of(answer: &[String], cell: CellRef<'_>) -> Result<u64, Fault> {
    let told =
        |found: String, why| SourceError::new(ErrorKind::Regressed, format!("{cell}: {found}")).told(why);
    // Nothing but a person writes such a value. A new epoch begins above the ceiling.
    let by_hand =
        |value: &str| told(format!("found value {value:?}, which no verb has left"), Some(Why::SetByHand));
    let words: Vec<&str> = answer.iter().map(String::as_str).collect();
    let error = match words[..] {
        ["ok", value] => return value.parse().map_err(|_| by_hand(value).into()),
        ["none"] => cell.regressed(None),
        ["other", epoch, open] => match epoch.parse().map(Epoch::from_stored) {
            Ok(epoch) => cell.regressed(Some(CellState { epoch, open: open == "1", value: 0 })),
            Err(_) => told(format!("found a cell for {epoch:?}, which is no epoch"), None),
        },
        // The server has lost the other one: evicted, expired or deleted.
        ["half", value, held_by] => {
            let gone = if held_by == "cell" { "witness" } else { "cell" };
            told(format!("found {value} in its {held_by}, and no {gone}"), Some(Why::LostInPart))
        }
        ["odd", value] => by_hand(value),
        _ => return Err(Fault::refused(format!("a script said {words:?}"))),
    };
    Err(error.into())
}
