//! The four verbs on cells, each one script.

use sequent_core::{Block, Cell, ErrorKind, Incarnation, Life, SourceError, Why};

use super::{CellNames, stored};
use crate::{
    redis::{
        link::{Answer, Link},
        scripts::{CLOSE, INSTALL, LIFT, REMOVE, TAKE, Text},
    },
    wire::{Fault, Owner, Work},
};

pub(super) struct Take<'a> {
    pub(super) owner: &'a Owner,
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) want: u64,
}

impl Work<Link> for Take<'_> {
    type Out = Block;
    const VERB: &'static str = "take from";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<Block, Fault> {
        let want = self.want.max(1);
        let added = stored("count", self.cell.key, want)?;
        let last = settle(link, self.owner, &self.cell, self.life, &TAKE, &added).await?;
        // Below what was added only by hand: what stood there before was no number of ours.
        Block::ending_at(last, want).map_err(|_| tampered(&self.cell, self.life, &last.to_string()))
    }
}

pub(super) struct Close<'a> {
    pub(super) owner: &'a Owner,
    pub(super) cell: Cell<'a>,
    pub(super) next: Life,
}

impl Work<Link> for Close<'_> {
    type Out = u64;
    const VERB: &'static str = "close a cell of";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let names = CellNames::of(self.owner, self.cell.key);
        let answer = link.run(&CLOSE, Some(&names), &[&self.next.to_stored().to_string()]).await?;
        held(answer, &self.cell, self.next)
    }
}

pub(super) struct Install<'a> {
    pub(super) owner: &'a Owner,
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) base: u64,
}

impl Work<Link> for Install<'_> {
    type Out = ();
    const VERB: &'static str = "install a cell of";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let base = stored("base", self.cell.key, self.base)?;
        settle(link, self.owner, &self.cell, self.life, &INSTALL, &base).await.map(drop)
    }
}

pub(super) struct Lift<'a> {
    pub(super) owner: &'a Owner,
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) floor: u64,
}

impl Work<Link> for Lift<'_> {
    type Out = u64;
    const VERB: &'static str = "lift a cell of";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let floor = stored("floor", self.cell.key, self.floor)?;
        settle(link, self.owner, &self.cell, self.life, &LIFT, &floor).await
    }
}

pub(super) struct Remove<'a> {
    pub(super) owner: &'a Owner,
    pub(super) cell: Cell<'a>,
}

impl Work<Link> for Remove<'_> {
    type Out = bool;
    const VERB: &'static str = "remove a cell of";

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<bool, Fault> {
        let names = CellNames::of(self.owner, self.cell.key);
        let Answer::Done(words) = link.run(&REMOVE, Some(&names), &[]).await? else { return Ok(false) };
        Ok(words.first().is_some_and(|gone| gone == "1"))
    }
}

/// Runs a script that touches the one cell of this life, or is refused; returns the value held afterwards.
async fn settle(
    link: &mut Link,
    owner: &Owner,
    cell: &Cell<'_>,
    life: Life,
    text: &Text,
    value: &str,
) -> Result<u64, Fault> {
    let (names, token) = (CellNames::of(owner, cell.key), life.to_stored().to_string());
    let answer =
        link.run(text, Some(&names), &[&token, value]).await.map_err(|fault| named(fault, cell, life))?;
    held(answer, cell, life)
}

/// The value in an answer, or what was found instead of the cell.
fn held(answer: Answer, cell: &Cell<'_>, life: Life) -> Result<u64, Fault> {
    let found = match answer {
        Answer::Done(words) => {
            let text = words.first().map_or("", String::as_str);
            return text.parse().map_err(|_| tampered(cell, life, text));
        }
        Answer::None => "no cell".to_owned(),
        Answer::Other(words) => other(&words),
        Answer::Half(words) => return Err(halved(cell, life, &words)),
        Answer::Odd(words) => return Err(tampered(cell, life, &words.concat())),
    };
    let context = format!("{} in life {life}: found {found}", cell.key);
    Err(Fault::answer(ErrorKind::Regressed, context))
}

/// Another life's cell, in words.
fn other(words: &[String]) -> String {
    let [life, open] = [0, 1].map(|at| words.get(at).map_or("", String::as_str));
    let state = if open == "1" { "open" } else { "closed" };
    match life.parse() {
        Ok(bits) => format!("a cell {state} for life {}", Life::from_stored(bits)),
        Err(_) => format!("a cell {state} for {life:?}, which is no life"),
    }
}

/// Somebody has written there by hand; a new life begins above the ceiling.
fn tampered(cell: &Cell<'_>, life: Life, found: &str) -> Fault {
    let context = format!("{} in life {life}: found value {found:?}, which no verb has left", cell.key);
    Fault::Answer(SourceError::new(ErrorKind::Regressed, context).told(Why::SetByHand))
}

/// The server itself lost it: evicted, expired or deleted.
fn halved(cell: &Cell<'_>, life: Life, words: &[String]) -> Fault {
    let [value, held_by] = [0, 1].map(|at| words.get(at).map_or("", String::as_str));
    let gone = if held_by == "cell" { "witness" } else { "cell" };
    let context = format!("{} in life {life}: found {value} in its {held_by}, and no {gone}", cell.key);
    Fault::Answer(SourceError::new(ErrorKind::Regressed, context).told(Why::LostInPart))
}

/// The server does not say which counter is at its end, or no hash.
fn named(fault: Fault, cell: &Cell<'_>, life: Life) -> Fault {
    match fault {
        Fault::Answer(error) => Fault::Answer(error.during(format!("{} in life {life}", cell.key))),
        fault => fault,
    }
}
