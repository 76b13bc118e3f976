//! Lives begun, and ceilings raised.

use sequent_core::ledger::{Answer, Opened, Opening, Pass, Raise, Raised, Row};

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
            let opened = opening.of(old, meta.floor, self.pass.under, meta.clock_ms);
            if let Opened::Row(row) = &opened {
                ended.extend(old.and_then(Row::ended).map(|past| (opening.counter.clone(), past)));
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
        let Some(row) = sheet.get_mut(&raise.counter) else {
            value.push(Raised::Ended { begun_at: None });
            continue;
        };
        let outcome = raise.of(row);
        if let Raised::Held { ceiling, seen } = outcome
            && (ceiling, seen) != (row.ceiling, row.seen)
        {
            (row.ceiling, row.seen) = (ceiling, seen);
            changed.insert(raise.counter.clone(), row.clone());
        }
        value.push(outcome);
    }
    batch::write(link, &changed, meta.version + 1).await?;
    let version = meta.version(link, !changed.is_empty()).await?;
    Ok((Answer { value, version }, meta))
}
