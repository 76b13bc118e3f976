//! Lives begun, and ceilings raised.

use sequent_core::{
    Incarnation,
    ledger::{Answer, Counter, Opened, Opening, Pass, Raise, Raised, Row},
};
use sqlx::{query, query_as};

use super::{
    capped, kept,
    pass::{admit, version},
    rows::read_one,
};
use crate::sqlite::{
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
        admit(link, &self.pass).await?;
        let mut value = Vec::with_capacity(self.openings.len());
        for opening in self.openings {
            value.push(open_one(link, opening, self.pass.under).await?);
        }
        let opened_any = value.iter().any(|opened| matches!(opened, Opened::Row(_)));
        let version = version(link, opened_any).await?;
        Ok(Answer { value, version })
    }
}

async fn open_one(link: &mut Link, opening: &Opening, ledger: &Incarnation) -> Result<Opened, Fault> {
    let old = read_one(link, &opening.counter).await?;
    let floor = if old.is_none() { floor(link).await? } else { 0 };
    let opened = opening.of(old.as_ref(), floor, ledger, link.wall_ms());
    let Opened::Row(row) = &opened else { return Ok(opened) };
    if let Some(old) = old.filter(|old| !old.is_unbegun()) {
        remember(link, &opening.counter, &old).await?;
    }
    write_one(link, &opening.counter, row).await?;
    Ok(opened)
}

/// The ceiling of counters without a row: what an operator named as lost.
pub(super) async fn floor(link: &mut Link) -> Result<u64, Fault> {
    let (floor,): (i64,) = link.only(query_as("SELECT floor FROM meta")).await?;
    Ok(kept(floor))
}

pub(super) async fn remember(link: &mut Link, counter: &Counter, ended: &Row) -> Result<(), Fault> {
    let sql = "INSERT INTO history (slot, k, life, base, ceiling) VALUES (?1, ?2, ?3, ?4, ?5)";
    let query = query(sql).bind(counter.slot).bind(counter.key.as_str()).bind(ended.life.to_stored());
    link.run(query.bind(capped(ended.base)).bind(capped(ended.ceiling))).await?;
    Ok(())
}

pub(super) async fn write_one(link: &mut Link, counter: &Counter, row: &Row) -> Result<(), Fault> {
    let sql = "INSERT OR REPLACE INTO counters \
        (slot, k, life, store, ledger, base, ceiling, seen, opened_at, moved) \
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, version + 1 FROM meta";
    let query = query(sql).bind(counter.slot).bind(counter.key.as_str()).bind(row.life.to_stored());
    let query = query.bind(row.store.as_str()).bind(row.ledger.as_str());
    let query = query.bind(capped(row.base)).bind(capped(row.ceiling)).bind(capped(row.seen));
    link.run(query.bind(capped(row.opened_at_ms))).await?;
    Ok(())
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
        raise_all(link, &self.pass, self.raises).await
    }
}

/// Checks the pass, and raises each ceiling where the row still holds the life.
pub(super) async fn raise_all(
    link: &mut Link,
    pass: &Pass<'_>,
    raises: &[Raise],
) -> Result<Answer<Vec<Raised>>, Fault> {
    admit(link, pass).await?;
    let mut value = Vec::with_capacity(raises.len());
    let mut moved_any = false;
    for raise in raises {
        value.push(raise_one(link, raise, &mut moved_any).await?);
    }
    let version = version(link, moved_any).await?;
    Ok(Answer { value, version })
}

async fn raise_one(link: &mut Link, raise: &Raise, moved_any: &mut bool) -> Result<Raised, Fault> {
    let Some(row) = read_one(link, &raise.counter).await? else {
        return Ok(Raised::Ended { begun_at: None });
    };
    let outcome = raise.of(&row);
    if let Raised::Held { ceiling, seen } = outcome
        && (ceiling, seen) != (row.ceiling, row.seen)
    {
        *moved_any = true;
        let Counter { slot, key } = &raise.counter;
        let sql = "UPDATE counters SET ceiling = ?1, seen = ?2, moved = (SELECT version + 1 FROM meta) \
            WHERE slot = ?3 AND k = ?4";
        link.run(query(sql).bind(capped(ceiling)).bind(capped(seen)).bind(*slot).bind(key.as_str())).await?;
    }
    Ok(outcome)
}
