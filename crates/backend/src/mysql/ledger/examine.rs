//! A look into a ledger that changes nothing.

use sequent_core::{BoxFuture, ExamineLedger, Fact, LedgerExamination, SourceError, other_master};

use super::{MysqlLedger, identity::Inspect, layout_book::Read, rows::List};
use crate::mysql::{
    fault::Fault,
    grants::{self, Needed},
    link::Link,
    work::{Frame, Work},
};

const NEEDED: Needed = Needed { always: &["SELECT", "INSERT", "UPDATE", "DELETE"], at_times: &["CREATE"] };

impl ExamineLedger for MysqlLedger {
    fn examine(&self, most: usize) -> BoxFuture<'_, Result<LedgerExamination, SourceError>> {
        Box::pin(self.pool.look(Look { ledger: self, most }))
    }
}

struct Look<'a> {
    ledger: &'a MysqlLedger,
    most: usize,
}

impl Work for Look<'_> {
    type Out = LedgerExamination;
    const VERB: &'static str = "examine";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<LedgerExamination, Fault> {
        let inspection = Inspect.run(link).await?;
        let (layout, refused) = match Read.run(link).await {
            // As while the ring is being resized.
            Err(Fault::Answer(error)) => (None, Some(Fact::refused("layout", &error))),
            layout => (layout?, None),
        };
        let rows = List { sequence: None, most: self.most }.run(link).await?;
        let mut facts = link.settings().losses();
        facts.extend(refused);
        facts.extend(inspection.other_master.as_deref().map(other_master));
        facts.extend(grants::facts(link, &self.ledger.pool.options().database, &NEEDED).await?);
        Ok(LedgerExamination { inspection, layout, rows, facts })
    }
}
