//! Cell calls of the Redis store, one script each.

use sequent_core::{Block, Epoch, ErrorKind, Key, SourceError, Why};

use crate::{
    net::{Fault, Owner},
    redis::{
        connection::{Answer, Connection},
        names::CellNames,
        scripts::{CLOSE, INSTALL, LIFT, REMOVE, TAKE, Text},
    },
    store::{CellState, block, regressed},
};

pub(super) async fn take(
    connection: &mut Connection,
    owner: &Owner,
    key: &Key,
    epoch: Epoch,
    want: u64,
) -> Result<Block, Fault> {
    let last = change(connection, owner, key, epoch, &TAKE, want).await?;
    Ok(block(last, want)?)
}

pub(super) async fn close(
    connection: &mut Connection,
    owner: &Owner,
    key: &Key,
    next: Epoch,
) -> Result<u64, Fault> {
    let names = CellNames::of(owner, key);
    let answer = connection.run(&CLOSE, Some(&names), &[&next.to_stored().to_string()]).await?;
    value_of(answer, key, next)
}

pub(super) async fn install(
    connection: &mut Connection,
    owner: &Owner,
    key: &Key,
    epoch: Epoch,
    base: u64,
) -> Result<(), Fault> {
    change(connection, owner, key, epoch, &INSTALL, base).await.map(drop)
}

pub(super) async fn lift(
    connection: &mut Connection,
    owner: &Owner,
    key: &Key,
    epoch: Epoch,
    floor: u64,
) -> Result<u64, Fault> {
    change(connection, owner, key, epoch, &LIFT, floor).await
}

pub(super) async fn remove(connection: &mut Connection, owner: &Owner, key: &Key) -> Result<bool, Fault> {
    let names = CellNames::of(owner, key);
    let Answer::Done(words) = connection.run(&REMOVE, Some(&names), &[]).await? else { return Ok(false) };
    Ok(words.first().is_some_and(|gone| gone == "1"))
}

/// Runs a script that changes only an open cell of this epoch; returns the value afterwards.
async fn change(
    connection: &mut Connection,
    owner: &Owner,
    key: &Key,
    epoch: Epoch,
    script: &Text,
    number: u64,
) -> Result<u64, Fault> {
    let (names, epoch_text) = (CellNames::of(owner, key), epoch.to_stored().to_string());
    let answer = connection.run(script, Some(&names), &[&epoch_text, &number.to_string()]).await;
    value_of(answer.map_err(|fault| named(fault, key, epoch))?, key, epoch)
}

/// The value of an answer, or the error for what was found instead of the cell.
fn value_of(answer: Answer, key: &Key, epoch: Epoch) -> Result<u64, Fault> {
    match answer {
        Answer::Done(words) => {
            let text = words.first().map_or("", String::as_str);
            text.parse().map_err(|_| set_by_hand(key, epoch, text))
        }
        Answer::None => Err(regressed(key, epoch, None).into()),
        Answer::Other(words) => Err(another(key, epoch, &words)),
        Answer::Half(words) => Err(half(key, epoch, &words)),
        Answer::Odd(words) => Err(set_by_hand(key, epoch, &words.concat())),
    }
}

/// Error for a closed cell or another epoch's.
fn another(key: &Key, epoch: Epoch, words: &[String]) -> Fault {
    let [found, open] = first_two(words);
    let Ok(bits) = found.parse() else {
        let context = format!("{key} in epoch {epoch}: found a cell for {found:?}, which is no epoch");
        return Fault::answer(ErrorKind::Regressed, context);
    };
    regressed(key, epoch, Some(CellState { epoch: Epoch::from_stored(bits), open: open == "1", value: 0 }))
        .into()
}

/// Error for a value written directly by an operator. A new epoch begins above the ceiling.
fn set_by_hand(key: &Key, epoch: Epoch, found: &str) -> Fault {
    let context = format!("{key} in epoch {epoch}: found value {found:?}, which no verb has left");
    SourceError::new(ErrorKind::Regressed, context).told(Why::SetByHand).into()
}

/// Error for a cell or witness that the server lost: evicted, expired or deleted.
fn half(key: &Key, epoch: Epoch, words: &[String]) -> Fault {
    let [value, held_by] = first_two(words);
    let gone = if held_by == "cell" { "witness" } else { "cell" };
    let context = format!("{key} in epoch {epoch}: found {value} in its {held_by}, and no {gone}");
    SourceError::new(ErrorKind::Regressed, context).told(Why::LostInPart).into()
}

fn first_two(words: &[String]) -> [&str; 2] {
    [0, 1].map(|at| words.get(at).map_or("", String::as_str))
}

/// Adds the key to errors of the server, which names neither a counter at its end nor a key of another type.
fn named(fault: Fault, key: &Key, epoch: Epoch) -> Fault {
    match fault {
        Fault::Answer(error) => Fault::Answer(error.during(format!("{key} in epoch {epoch}"))),
        fault => fault,
    }
}
