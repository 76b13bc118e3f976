//! SQL ledger operations: transaction, view, scans and examination.

use sequent_core::{
    Condition, ErrorKind, LedgerId, SourceError,
    ledger::{Answer, DenseAsk, DenseTaken, LedgerInspection, Pass, ServerId},
    other_master,
};

use super::{
    Examined, Hold, Keys, LedgerSession, Records, Refusal, Scan, Selection, SqlFacts, load::load, save::save,
};
use crate::{
    ledger::Token,
    net::{Fault, Operation, TxMode},
    sql::SqlRow,
};

/// Reads records, decides, and writes changes.
pub(super) struct Transaction<'a, F> {
    pub(super) verb: &'static str,
    pub(super) selection: &'a Selection<'a>,
    pub(super) token: Option<String>,
    pub(super) decide: F,
}

impl<S: LedgerSession, T: Send, F> Operation<S> for Transaction<'_, F>
where
    F: Fn(&mut Records) -> Result<T, Refusal> + Send + Sync,
{
    type Out = T;

    fn mode(&self) -> TxMode {
        TxMode::Write
    }

    fn name(&self) -> &'static str {
        self.verb
    }

    async fn run(&self, session: &mut S) -> Result<T, Fault> {
        let mut records = load::<S>(session, Hold::Write, self.selection).await?;
        records.token =
            self.token.as_ref().map(|text| Token { text: text.clone(), instance: session.instance_of(text) });
        let value = match (self.decide)(&mut records) {
            Ok(value) => value,
            Err(Refusal::Answer(error)) => return Err(error.into()),
            Err(Refusal::OtherInstance(error)) => return Err(Fault::refused(error.context())),
        };
        save::<S>(session, &records).await?;
        Ok(value)
    }
}

/// Reads records.
pub(super) struct View<'a> {
    pub(super) verb: &'static str,
    pub(super) selection: &'a Selection<'a>,
}

impl<S: LedgerSession> Operation<S> for View<'_> {
    type Out = Records;

    fn mode(&self) -> TxMode {
        if is_of_one_moment(self.selection) { TxMode::Read } else { TxMode::Single }
    }

    fn name(&self) -> &'static str {
        self.verb
    }

    async fn run(&self, session: &mut S) -> Result<Records, Fault> {
        let hold = if is_of_one_moment(self.selection) { Hold::Read } else { Hold::Look };
        load::<S>(session, hold, self.selection).await
    }
}

/// Whether the records must be read in one transaction: rows and their changes belong to the instance, definitions to
/// the catalog's version, stores to the instance on record.
fn is_of_one_moment(selection: &Selection<'_>) -> bool {
    let lists_changes = matches!(selection.scan, Some(Scan::Moved { .. }));
    !selection.counters.is_empty() || selection.all_definitions || selection.stores || lists_changes
}

/// Reads the ledger's identity, durability and clock.
pub(super) struct Inspect;

impl<S: LedgerSession> Operation<S> for Inspect {
    type Out = LedgerInspection;

    fn name(&self) -> &'static str {
        "inspect"
    }

    fn mode(&self) -> TxMode {
        S::INSPECTS_BY
    }

    fn looks_again(&self) -> bool {
        true
    }

    async fn run(&self, session: &mut S) -> Result<LedgerInspection, Fault> {
        Ok(inspect::<S>(session).await?.0)
    }
}

async fn inspect<S: LedgerSession>(session: &mut S) -> Result<(LedgerInspection, SqlFacts), Fault> {
    let (_, clock_ms) = session.hold(Hold::Look).await?;
    let rows = session.rows(S::STATEMENTS.identity, Vec::new()).await?;
    let gone = || {
        let context = "a row that is made with the tables is gone";
        SourceError::new(ErrorKind::Refused, context).with(Condition::Emptied)
    };
    let mut row: SqlRow = rows.into_iter().next().ok_or_else(gone)?;
    let (id, version, token) = (row.text()?, row.count()?, row.text()?);
    let id: LedgerId = id.parse().map_err(|error: std::num::ParseIntError| {
        SourceError::new(ErrorKind::Refused, format!("ledger id is {id:?}")).because(error)
    })?;
    let facts = session.facts().await?;
    let inspection = LedgerInspection {
        instance: session.instance_of(&token),
        id,
        version,
        durability: facts.durability.clone(),
        clock_ms,
        engine: facts.engine.clone(),
        other_master: facts.other_master.clone(),
    };
    Ok((inspection, facts))
}

/// Examines the ledger on a connection that can't change anything.
pub(super) struct Examine {
    pub(super) most: usize,
}

impl<S: LedgerSession> Operation<S> for Examine {
    type Out = Examined;

    fn name(&self) -> &'static str {
        "examine"
    }

    fn mode(&self) -> TxMode {
        TxMode::Read
    }

    async fn run(&self, session: &mut S) -> Result<Examined, Fault> {
        let (inspection, said) = inspect::<S>(session).await?;
        let scan = Scan::Rows { slot: None, keys: Keys::All, most: self.most };
        let records = load::<S>(session, Hold::Look, &scan.into()).await?;
        let mut facts = session.examine(&said).await?;
        facts.extend(said.other_master.as_deref().map(other_master));
        Ok(Examined { inspection, records, facts })
    }
}

/// Counts in one statement.
pub(super) struct CountAtOnce<'a> {
    pub(super) pass: &'a Pass<'a>,
    pub(super) asks: &'a [DenseAsk],
}

impl<S: LedgerSession> Operation<S> for CountAtOnce<'_> {
    type Out = Option<Answer<Vec<DenseTaken>>>;

    fn name(&self) -> &'static str {
        "count in"
    }

    async fn run(&self, session: &mut S) -> Result<Self::Out, Fault> {
        session.count_at_once(self.pass, self.asks).await
    }
}

/// Removes the row of a leaving server.
pub(super) struct Delist {
    pub(super) server: ServerId,
}

impl<S: LedgerSession> Operation<S> for Delist {
    type Out = ();

    fn name(&self) -> &'static str {
        "delist from"
    }

    async fn run(&self, session: &mut S) -> Result<(), Fault> {
        session.execute(S::STATEMENTS.delete_server, vec![self.server.0.cast_signed().into()]).await?;
        Ok(())
    }
}
