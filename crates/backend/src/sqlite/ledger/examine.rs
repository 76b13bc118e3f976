//! A look into a ledger that changes nothing.

use sequent_core::{BoxFuture, ExamineLedger, Fact, LedgerExamination, SourceError};

use super::{SqliteLedger, identity::Inspect, layout_book::Read, rows::List};
use crate::sqlite::{
    disk,
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl ExamineLedger for SqliteLedger {
    fn examine(&self, most: usize) -> BoxFuture<'_, Result<LedgerExamination, SourceError>> {
        Box::pin(self.database.look(Look { most }))
    }
}

struct Look {
    most: usize,
}

impl Work for Look {
    type Out = LedgerExamination;
    const VERB: &'static str = "examine";
    const FRAME: Frame = Frame::Read;

    async fn run(&self, link: &mut Link) -> Result<LedgerExamination, Fault> {
        let inspection = Inspect.run(link).await?;
        let (layout, refused) = match Read.run(link).await {
            // As while the ring is being resized.
            Err(Fault::Answer(error)) => (None, Some(Fact::refused("layout", &error))),
            layout => (layout?, None),
        };
        let rows = List { sequence: None, most: self.most }.run(link).await?;
        let mut facts = disk::facts(link).await?;
        facts.extend(refused);
        Ok(LedgerExamination { inspection, layout, rows, facts })
    }
}
