//! Lives begun, and ceilings raised.

use sequent_core::{
    Block, Incarnation,
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
    let known = old.as_ref().map_or(floor, |row| row.base.max(row.seen));
    let found = old.as_ref().map_or(floor, |row| row.ceiling).max(opening.value);
    let bound = known.saturating_add(opening.ahead).saturating_add(opening.leap_max).min(Block::NUMBER_MAX);
    if found > bound {
        return Ok(Opened::Leapt { found, bound });
    }
    let row = Row {
        life: opening.life,
        store: opening.store.clone(),
        ledger: ledger.clone(),
        base: found,
        ceiling: found.saturating_add(opening.ahead).min(Block::NUMBER_MAX),
        seen: found,
        opened_at_ms: link.wall_ms(),
    };
    if let Some(old) = old {
        remember(link, &opening.counter, &old).await?;
    }
    write_one(link, &opening.counter, &row).await?;
    Ok(Opened::Row(row))
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
    let Counter { slot, key } = &raise.counter;
    let sql = "SELECT ceiling, seen FROM counters WHERE slot = ?1 AND k = ?2 AND life = ?3";
    let query_row = query_as(sql).bind(*slot).bind(key.as_str()).bind(raise.life.to_stored());
    let Some((held, seen)) = link.row::<(i64, i64)>(query_row).await? else { return Ok(Raised::Ended) };
    if raise.seen > kept(held).saturating_add(raise.leap_max).min(Block::NUMBER_MAX) {
        return Ok(Raised::Leapt { ceiling: kept(held) });
    }
    let (ceiling, highest) = (held.max(capped(raise.ceiling)), seen.max(capped(raise.seen)));
    if (ceiling, highest) != (held, seen) {
        *moved_any = true;
        let sql = "UPDATE counters SET ceiling = ?1, seen = ?2, moved = (SELECT version + 1 FROM meta) \
            WHERE slot = ?3 AND k = ?4";
        link.run(query(sql).bind(ceiling).bind(highest).bind(*slot).bind(key.as_str())).await?;
    }
    Ok(Raised::Held { ceiling: kept(ceiling), seen: kept(highest) })
}
