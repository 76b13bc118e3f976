//! The calls on cells, each one script.

use sequent_core::{Block, ErrorKind, Key, Life, SourceError, Why};

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
    life: Life,
    want: u64,
) -> Result<Block, Fault> {
    let last = change(connection, owner, key, life, &TAKE, want).await?;
    Ok(block(last, want)?)
}

pub(super) async fn close(
    connection: &mut Connection,
    owner: &Owner,
    key: &Key,
    next: Life,
) -> Result<u64, Fault> {
    let names = CellNames::of(owner, key);
    let answer = connection.run(&CLOSE, Some(&names), &[&next.to_stored().to_string()]).await?;
    value_of(answer, key, next)
}

pub(super) async fn install(
    connection: &mut Connection,
    owner: &Owner,
    key: &Key,
    life: Life,
    base: u64,
) -> Result<(), Fault> {
    change(connection, owner, key, life, &INSTALL, base).await.map(drop)
}

pub(super) async fn lift(
    connection: &mut Connection,
    owner: &Owner,
    key: &Key,
    life: Life,
    floor: u64,
) -> Result<u64, Fault> {
    change(connection, owner, key, life, &LIFT, floor).await
}

pub(super) async fn remove(connection: &mut Connection, owner: &Owner, key: &Key) -> Result<bool, Fault> {
    let names = CellNames::of(owner, key);
    let Answer::Done(words) = connection.run(&REMOVE, Some(&names), &[]).await? else { return Ok(false) };
    Ok(words.first().is_some_and(|gone| gone == "1"))
}

/// Runs a script that changes the one cell of this life, or is refused; returns the value held afterwards.
async fn change(
    connection: &mut Connection,
    owner: &Owner,
    key: &Key,
    life: Life,
    script: &Text,
    number: u64,
) -> Result<u64, Fault> {
    let (names, life_text) = (CellNames::of(owner, key), life.to_stored().to_string());
    let answer = connection.run(script, Some(&names), &[&life_text, &number.to_string()]).await;
    value_of(answer.map_err(|fault| named(fault, key, life))?, key, life)
}

/// The value in an answer, or what was found instead of the cell.
fn value_of(answer: Answer, key: &Key, life: Life) -> Result<u64, Fault> {
    match answer {
        Answer::Done(words) => {
            let text = words.first().map_or("", String::as_str);
            text.parse().map_err(|_| set_by_hand(key, life, text))
        }
        Answer::None => Err(regressed(key, life, None).into()),
        Answer::Other(words) => Err(another(key, life, &words)),
        Answer::Half(words) => Err(half(key, life, &words)),
        Answer::Odd(words) => Err(set_by_hand(key, life, &words.concat())),
    }
}

/// Another life's cell, or a closed one.
fn another(key: &Key, life: Life, words: &[String]) -> Fault {
    let [found, open] = first_two(words);
    let Ok(bits) = found.parse() else {
        let context = format!("{key} in life {life}: found a cell for {found:?}, which is no life");
        return Fault::answer(ErrorKind::Regressed, context);
    };
    regressed(key, life, Some(CellState { life: Life::from_stored(bits), open: open == "1", value: 0 }))
        .into()
}

/// Somebody has written there by hand; a new life begins above the ceiling.
fn set_by_hand(key: &Key, life: Life, found: &str) -> Fault {
    let context = format!("{key} in life {life}: found value {found:?}, which no verb has left");
    SourceError::new(ErrorKind::Regressed, context).told(Why::SetByHand).into()
}

/// The server itself lost one of the two: it was evicted, expired or deleted.
fn half(key: &Key, life: Life, words: &[String]) -> Fault {
    let [value, held_by] = first_two(words);
    let gone = if held_by == "cell" { "witness" } else { "cell" };
    let context = format!("{key} in life {life}: found {value} in its {held_by}, and no {gone}");
    SourceError::new(ErrorKind::Regressed, context).told(Why::LostInPart).into()
}

fn first_two(words: &[String]) -> [&str; 2] {
    [0, 1].map(|at| words.get(at).map_or("", String::as_str))
}

/// The server does not say which counter is at its end, or no hash.
fn named(fault: Fault, key: &Key, life: Life) -> Fault {
    match fault {
        Fault::Answer(error) => Fault::Answer(error.during(format!("{key} in life {life}"))),
        fault => fault,
    }
}
