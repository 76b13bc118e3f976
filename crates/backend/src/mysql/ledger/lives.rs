//! Lives begun, and ceilings raised.

use sequent_core::{
    Block, Incarnation,
    ledger::{Answer, Opened, Opening, Pass, PastLife, Raise, Raised, Row},
};

use super::{
    batch::{self, Sheet},
    pass::{Meta, admit},
};
use crate::mysql::{
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
        let meta = admit(link, &self.pass).await?;
        let mut sheet = batch::read(link, self.openings.iter().map(|opening| &opening.counter)).await?;
        let (mut changed, mut ended) = (Sheet::new(), Vec::new());
        let mut value = Vec::with_capacity(self.openings.len());
        for opening in self.openings {
            let old = sheet.get(&opening.counter);
            let opened = open_one(old, opening, &meta, self.pass.under);
            if let Opened::Row(row) = &opened {
                if let Some(Row { life, base, ceiling, .. }) = old {
                    let past = PastLife { life: *life, base: *base, ceiling: *ceiling };
                    ended.push((opening.counter.clone(), past));
                }
                sheet.insert(opening.counter.clone(), row.clone());
                changed.insert(opening.counter.clone(), row.clone());
            }
            value.push(opened);
        }
        batch::remember(link, &ended).await?;
        batch::write(link, &changed, meta.version + 1).await?;
        let version = meta.version(link, !changed.is_empty()).await?;
        Ok(Answer { value, version })
    }
}

fn open_one(old: Option<&Row>, opening: &Opening, meta: &Meta, ledger: &Incarnation) -> Opened {
    let known = old.map_or(meta.floor, |row| row.base.max(row.seen));
    let found = old.map_or(meta.floor, |row| row.ceiling).max(opening.value);
    let bound = known.saturating_add(opening.ahead).saturating_add(opening.leap_max).min(Block::NUMBER_MAX);
    if found > bound {
        return Opened::Leapt { found, bound };
    }
    Opened::Row(Row {
        life: opening.life,
        store: opening.store.clone(),
        ledger: ledger.clone(),
        base: found,
        ceiling: found.saturating_add(opening.ahead).min(Block::NUMBER_MAX),
        seen: found,
        opened_at_ms: meta.clock_ms,
    })
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
        raise_all(link, &self.pass, self.raises).await.map(|(answer, _)| answer)
    }
}

/// Checks the pass, and raises each ceiling where the row still holds the life.
pub(super) async fn raise_all(
    link: &mut Link,
    pass: &Pass<'_>,
    raises: &[Raise],
) -> Result<(Answer<Vec<Raised>>, Meta), Fault> {
    let meta = admit(link, pass).await?;
    let mut sheet = batch::read(link, raises.iter().map(|raise| &raise.counter)).await?;
    let mut changed = Sheet::new();
    let mut value = Vec::with_capacity(raises.len());
    for raise in raises {
        let row = sheet.get_mut(&raise.counter).filter(|row| row.life == raise.life);
        let Some(row) = row else {
            value.push(Raised::Ended);
            continue;
        };
        let before = (row.ceiling, row.seen);
        let outcome = raise_one(row, raise);
        if (row.ceiling, row.seen) != before {
            changed.insert(raise.counter.clone(), row.clone());
        }
        value.push(outcome);
    }
    batch::write(link, &changed, meta.version + 1).await?;
    let version = meta.version(link, !changed.is_empty()).await?;
    Ok((Answer { value, version }, meta))
}

fn raise_one(row: &mut Row, raise: &Raise) -> Raised {
    if raise.seen > row.ceiling.saturating_add(raise.leap_max).min(Block::NUMBER_MAX) {
        return Raised::Leapt { ceiling: row.ceiling };
    }
    row.ceiling = row.ceiling.max(raise.ceiling.min(Block::NUMBER_MAX));
    row.seen = row.seen.max(raise.seen.min(Block::NUMBER_MAX));
    Raised::Held { ceiling: row.ceiling, seen: row.seen }
}
