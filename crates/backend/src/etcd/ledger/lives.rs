//! Lives begun, and ceilings raised.

use sequent_core::{
    Incarnation,
    ledger::{Answer, Opened, Opening, Pass, Raise, Raised, Row},
};

use super::page::{OPENED_MAX, Page, RAISED_MAX, in_pages};
use crate::{
    etcd::link::Link,
    wire::{Fault, Work},
};

pub(super) struct Open<'a> {
    pub(super) pass: Pass<'a>,
    pub(super) openings: &'a [Opening],
}

impl Work<Link> for Open<'_> {
    type Out = Answer<Vec<Opened>>;
    const VERB: &'static str = "open lives in";

    async fn run(&self, link: &mut Link) -> Result<Answer<Vec<Opened>>, Fault> {
        let judge = |page: &mut Page, opening: &Opening| open(page, opening, self.pass.under);
        let asks = (self.openings, OPENED_MAX);
        let (answer, _) = in_pages(link, &self.pass, asks, |opening| &opening.counter, judge).await?;
        Ok(answer)
    }
}

fn open(page: &mut Page, opening: &Opening, ledger: &Incarnation) -> Opened {
    let (old, head) = (page.row(&opening.counter), &page.head);
    let opened = opening.of(old, head.losses.floor, ledger, head.clock_ms);
    let Opened::Row(row) = &opened else { return opened };
    page.end(&opening.counter);
    page.set(&opening.counter, row.clone());
    opened
}

pub(super) struct RaiseThem<'a> {
    pub(super) pass: Pass<'a>,
    pub(super) raises: &'a [Raise],
}

impl Work<Link> for RaiseThem<'_> {
    type Out = Answer<Vec<Raised>>;
    const VERB: &'static str = "raise ceilings in";

    async fn run(&self, link: &mut Link) -> Result<Answer<Vec<Raised>>, Fault> {
        Ok(raise_all(link, &self.pass, self.raises).await?.0)
    }
}

/// Raises each ceiling where the row still holds the life. Returns the clock besides.
pub(super) async fn raise_all(
    link: &mut Link,
    pass: &Pass<'_>,
    raises: &[Raise],
) -> Result<(Answer<Vec<Raised>>, u64), Fault> {
    in_pages(link, pass, (raises, RAISED_MAX), |raise| &raise.counter, raise).await
}

fn raise(page: &mut Page, raise: &Raise) -> Raised {
    let Some(row) = page.row(&raise.counter) else { return Raised::Ended { begun_at: None } };
    let outcome = raise.of(row);
    if let Raised::Held { ceiling, seen } = outcome
        && (ceiling, seen) != (row.ceiling, row.seen)
    {
        let row = Row { ceiling, seen, ..row.clone() };
        page.set(&raise.counter, row);
    }
    outcome
}
