//! A look into a ledger that changes nothing.

use sequent_core::{BoxFuture, ExamineLedger, Fact, LedgerExamination, SourceError, other_master};

use super::{PostgresLedger, identity::Inspect, layout_book::Read, rows::List};
use crate::postgres::{
    fault::Fault,
    link::{Link, losses},
    rights::{self, Needed},
    work::{Frame, Work},
};

const NEEDED: &Needed = &[
    ("about", "SELECT"),
    ("run", "SELECT, INSERT"),
    ("history", "SELECT, INSERT"),
    ("definitions", "SELECT, INSERT"),
    ("meta", "SELECT, UPDATE"),
    ("layout", "SELECT, INSERT, UPDATE"),
    ("advances", "SELECT, INSERT, UPDATE"),
    ("dense", "SELECT, INSERT, UPDATE"),
    ("counters", "SELECT, INSERT, UPDATE, DELETE"),
    ("words", "SELECT, INSERT, UPDATE"),
    ("servers", "SELECT, INSERT, UPDATE, DELETE"),
    ("slots", "SELECT, INSERT, UPDATE, DELETE"),
];

impl ExamineLedger for PostgresLedger {
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
        let mut facts = losses(&inspection.durability.settings);
        facts.extend(refused);
        facts.extend(inspection.other_master.as_deref().map(other_master));
        facts.extend(rights::facts(link, NEEDED).await?);
        Ok(LedgerExamination { inspection, layout, rows, facts })
    }
}
