//! Lives begun, and ceilings raised.

use std::collections::BTreeMap;

use sequent_core::{
    Block, ErrorKind, Incarnation,
    ledger::{Answer, Counter, Opened, Opening, Pass, Raise, Raised, Row},
};
use sqlx::query_as;

use super::{
    batch::{Held, hold, remember, widen, write},
    kept,
    pass::{admit, version},
};
use crate::postgres::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

pub(super) struct Open<'a> {
    pub(super) pass: Pass<'a>,
    pub(super) openings: &'a [Opening],
}

impl Work for Open<'_> {
    type Out = Answer<Vec<Opened>>;
    const VERB: &'static str = "open lives in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Answer<Vec<Opened>>, Fault> {
        let now_ms = admit(link, &self.pass).await?;
        let mut held = hold(link, self.openings.iter().map(|opening| &opening.counter)).await?;
        let (floor,): (i64,) = link.session().only(query_as("SELECT floor FROM meta")).await?;
        let (mut value, mut ended, mut opened) =
            (Vec::with_capacity(self.openings.len()), Vec::new(), Vec::new());
        for opening in self.openings {
            let old = held.remove(&opening.counter).flatten();
            match judge(opening, old.as_ref(), kept(floor)) {
                Err(leap) => {
                    held.insert(opening.counter.clone(), old);
                    value.push(leap);
                }
                Ok(base) => {
                    let row = begun(opening, base, self.pass.under, now_ms);
                    ended.extend(old.map(|old| (&opening.counter, old)));
                    opened.push(&opening.counter);
                    held.insert(opening.counter.clone(), Some(row.clone()));
                    value.push(Opened::Row(row));
                }
            }
        }
        remember(link, &ended).await?;
        write(link, &picked(&held, &opened)).await?;
        let version = version(link, !opened.is_empty()).await?;
        Ok(Answer { value, version })
    }
}

/// The base of a new life, or why there is none. Without a row the ceiling is what an operator named as lost.
fn judge(opening: &Opening, old: Option<&Row>, floor: u64) -> Result<u64, Opened> {
    let known = old.map_or(floor, |row| row.base.max(row.seen));
    let found = old.map_or(floor, |row| row.ceiling).max(opening.value);
    let bound = known.saturating_add(opening.ahead).saturating_add(opening.leap_max).min(Block::NUMBER_MAX);
    if found > bound { Err(Opened::Leapt { found, bound }) } else { Ok(found) }
}

fn begun(opening: &Opening, base: u64, ledger: &Incarnation, now_ms: u64) -> Row {
    Row {
        life: opening.life,
        store: opening.store.clone(),
        ledger: ledger.clone(),
        base,
        ceiling: base.saturating_add(opening.ahead).min(Block::NUMBER_MAX),
        seen: base,
        opened_at_ms: now_ms,
    }
}

/// The rows of these counters as they are to be written, once each.
fn picked<'a>(held: &'a Held, counters: &[&'a Counter]) -> BTreeMap<&'a Counter, &'a Row> {
    let row = |counter: &&'a Counter| Some((*counter, held.get(*counter)?.as_ref()?));
    counters.iter().filter_map(row).collect()
}

pub(super) struct RaiseThem<'a> {
    pub(super) pass: Pass<'a>,
    pub(super) raises: &'a [Raise],
}

impl Work for RaiseThem<'_> {
    type Out = Answer<Vec<Raised>>;
    const VERB: &'static str = "raise ceilings in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Answer<Vec<Raised>>, Fault> {
        admit(link, &self.pass).await?;
        raise_all(link, self.raises).await
    }
}

/// Raises each ceiling where the row still holds the life. The pass was admitted.
pub(super) async fn raise_all(link: &mut Link, raises: &[Raise]) -> Result<Answer<Vec<Raised>>, Fault> {
    let mut held = hold(link, raises.iter().map(|raise| &raise.counter)).await?;
    let (mut value, mut moved) = (Vec::with_capacity(raises.len()), Vec::new());
    for raise in raises {
        let row = held.get_mut(&raise.counter).and_then(Option::as_mut);
        let Some(row) = row.filter(|row| row.life == raise.life) else {
            value.push(Raised::Ended);
            continue;
        };
        if raise.seen > row.ceiling.saturating_add(raise.leap_max).min(Block::NUMBER_MAX) {
            value.push(Raised::Leapt { ceiling: row.ceiling });
            continue;
        }
        let (ceiling, seen) =
            (row.ceiling.max(raise.ceiling.min(Block::NUMBER_MAX)), row.seen.max(raise.seen));
        if (ceiling, seen) != (row.ceiling, row.seen) {
            (row.ceiling, row.seen) = (ceiling, seen);
            moved.push(&raise.counter);
        }
        value.push(Raised::Held { ceiling, seen });
    }
    if !moved.is_empty() {
        let rows = picked(&held, &moved);
        let touched = widen(link, &rows).await?;
        if touched != rows.len() as u64 {
            let cause =
                format!("{touched} of {} rows were there to be raised: somebody else writes", rows.len());
            return Err(Fault::broken(ErrorKind::Unavailable, cause));
        }
    }
    let version = version(link, !moved.is_empty()).await?;
    Ok(Answer { value, version })
}
