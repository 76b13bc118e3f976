//! Lives begun, and ceilings raised.

use std::collections::BTreeMap;

use sequent_core::{
    ErrorKind,
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
            let outcome = opening.of(old.as_ref(), kept(floor), self.pass.under, now_ms);
            let row = if let Opened::Row(row) = &outcome {
                ended.extend(old.filter(|old| !old.is_unbegun()).map(|old| (&opening.counter, old)));
                opened.push(&opening.counter);
                Some(row.clone())
            } else {
                old
            };
            held.insert(opening.counter.clone(), row);
            value.push(outcome);
        }
        remember(link, &ended).await?;
        write(link, &picked(&held, &opened)).await?;
        let version = version(link, !opened.is_empty()).await?;
        Ok(Answer { value, version })
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
        let Some(row) = held.get_mut(&raise.counter).and_then(Option::as_mut) else {
            value.push(Raised::Ended { begun_at: None });
            continue;
        };
        let outcome = raise.of(row);
        if let Raised::Held { ceiling, seen } = outcome
            && (ceiling, seen) != (row.ceiling, row.seen)
        {
            (row.ceiling, row.seen) = (ceiling, seen);
            moved.push(&raise.counter);
        }
        value.push(outcome);
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
