//! SQL ledger operations: transaction, view, scans and examination.

use sequent_core::{
    Condition, ErrorKind, InstanceId, LedgerId, SlotIndex, SourceError,
    ledger::{
        Answer, Counter, DenseAsk, DenseRow, DenseTaken, LedgerInspection, Moved, Pass, PastEpoch, Row,
        ServerId,
    },
    other_master,
};

use super::{
    Examined, Hold, Keys, LedgerSession, Records, Refusal, Selection, SqlFacts,
    load::{counter_row, dense_row, load, moved, past_epoch},
    save::save,
};
use crate::{
    ledger::Token,
    net::{Fault, Operation, TxMode},
    sql::{SqlRow, Value},
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

/// Whether the records must be read in one transaction: rows belong to the instance, definitions to the catalog's
/// version, stores to the instance on record.
fn is_of_one_moment(selection: &Selection<'_>) -> bool {
    !selection.counters.is_empty() || selection.all_definitions || selection.stores
}

/// Scans rows of counters.
pub(super) struct Rows<'a> {
    pub(super) slot: Option<SlotIndex>,
    pub(super) keys: Keys<'a>,
    pub(super) most: usize,
}

impl<S: LedgerSession> Operation<S> for Rows<'_> {
    type Out = Vec<(Counter, Row)>;

    fn name(&self) -> &'static str {
        "list rows of"
    }

    async fn run(&self, session: &mut S) -> Result<Self::Out, Fault> {
        let (sql, most) = (S::STATEMENTS, limit(self.most));
        let rows = match (self.slot, self.keys) {
            (_, Keys::All) => session.rows(sql.all_counters, vec![most]).await?,
            (_, Keys::Of(name)) => session.rows(sql.counters_of, of::<S>(name, most)).await?,
            (slot, Keys::Between(from, below)) => {
                let params = vec![slot.into(), S::text(from), S::text(below), most];
                session.rows(sql.counters_between, params).await?
            }
        };
        each(rows, counter_row)
    }
}

/// Scans dense counters.
pub(super) struct DenseRows<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) most: usize,
}

impl<S: LedgerSession> Operation<S> for DenseRows<'_> {
    type Out = Vec<DenseRow>;

    fn name(&self) -> &'static str {
        "list dense counters of"
    }

    async fn run(&self, session: &mut S) -> Result<Self::Out, Fault> {
        let (sql, most) = (S::STATEMENTS, limit(self.most));
        let rows = match self.keys {
            Keys::All => session.rows(sql.all_dense, vec![most]).await?,
            Keys::Of(name) => session.rows(sql.dense_of, of::<S>(name, most)).await?,
            Keys::Between(from, below) => {
                session.rows(sql.dense_between, vec![S::text(from), S::text(below), most]).await?
            }
        };
        each(rows, dense_row)
    }
}

/// Reads the ended epochs of a counter.
pub(super) struct History<'a> {
    pub(super) counter: &'a Counter,
}

impl<S: LedgerSession> Operation<S> for History<'_> {
    type Out = Vec<PastEpoch>;

    fn name(&self) -> &'static str {
        "read history from"
    }

    async fn run(&self, session: &mut S) -> Result<Self::Out, Fault> {
        let Counter { slot, key } = self.counter;
        let rows = session.rows(S::STATEMENTS.history, vec![S::text(key.as_str()), (*slot).into()]).await?;
        each(rows, past_epoch)
    }
}

/// Reads the instance and the changed rows.
pub(super) struct Moves {
    pub(super) since: u64,
    pub(super) most: usize,
}

impl<S: LedgerSession> Operation<S> for Moves {
    type Out = (InstanceId, Vec<Moved>);

    fn name(&self) -> &'static str {
        "read what moved in"
    }

    fn mode(&self) -> TxMode {
        TxMode::Read
    }

    async fn run(&self, session: &mut S) -> Result<Self::Out, Fault> {
        let (token, _) = session.hold(Hold::Read).await?;
        let rows = session.rows(S::STATEMENTS.moved, vec![self.since.into(), limit(self.most)]).await?;
        Ok((session.instance_of(&token), each(rows, moved)?))
    }
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
        let layout = load::<S>(session, Hold::Look, &Selection::default()).await?.layout;
        let rows = session.rows(S::STATEMENTS.all_counters, vec![limit(self.most)]).await?;
        let rows = each(rows, counter_row)?;
        let mut facts = session.examine(&said).await?;
        facts.extend(said.other_master.as_deref().map(other_master));
        Ok(Examined { inspection, layout, rows, facts })
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

fn each<T>(rows: Vec<SqlRow>, read: impl Fn(SqlRow) -> Result<T, SourceError>) -> Result<Vec<T>, Fault> {
    Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
}

fn limit(most: usize) -> Value {
    Value::from(most as u64)
}

/// A key, and those that begin with it and `|`, after which comes `}`.
fn of<S: LedgerSession>(name: &str, most: Value) -> Vec<Value> {
    vec![S::text(name), S::text(&format!("{name}|")), S::text(&format!("{name}}}")), most]
}
