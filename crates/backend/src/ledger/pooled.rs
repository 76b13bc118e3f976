//! Ledgers on connections: the calls of an engine as operations, written once. An engine brings the calls on one
//! connection.

use std::future::Future;

use sequent_core::{
    SourceError,
    ledger::{Answer, DenseAsk, DenseTaken, LedgerInspection, Pass, ServerId},
};

use super::{Examined, LedgerEngine, Records, Refusal, Selection};
use crate::net::{self, Connection, Connections, Fault, Operation, TxMode};

/// A rule's decision on the records of a transaction.
pub(crate) type Decide<'a, T> = &'a (dyn Fn(&mut Records) -> Result<T, Refusal> + Send + Sync + 'a);

/// A connection to a ledger. Each call's contract is that of [`LedgerEngine`].
pub(crate) trait LedgerConnection: Connection + 'static {
    /// As [`LedgerEngine::RECORDS_MAX`].
    const RECORDS_MAX: usize = usize::MAX;

    /// As [`LedgerEngine::BATCH_MAX`].
    const BATCH_MAX: usize = 4096;

    /// Transaction mode of an inspection.
    const INSPECTS_BY: TxMode = TxMode::Read;

    /// Whether the engine can count in one statement.
    const COUNTS_AT_ONCE: bool = false;

    /// Reads, decides and writes within the operation's transaction. `token` is the new token, if one is needed.
    fn transact<T: Send>(
        &mut self,
        selection: &Selection<'_>,
        token: Option<&str>,
        decide: Decide<'_, T>,
    ) -> impl Future<Output = Result<T, Fault>> + Send;

    /// Reads the records.
    fn view(&mut self, selection: &Selection<'_>) -> impl Future<Output = Result<Records, Fault>> + Send;

    /// Counts in one statement. `None`: nothing was written.
    fn count_at_once(
        &mut self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> impl Future<Output = Result<Option<Answer<Vec<DenseTaken>>>, Fault>> + Send {
        let _ = (pass, asks);
        std::future::ready(Ok(None))
    }

    /// Reads the ledger's identity, durability and clock.
    fn inspect(&mut self) -> impl Future<Output = Result<LedgerInspection, Fault>> + Send;

    /// Examines the ledger on a connection that can't change anything.
    fn examine(&mut self, most: usize) -> impl Future<Output = Result<Examined, Fault>> + Send;

    /// Removes the row of a leaving server.
    fn delist(&mut self, server: ServerId) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// A ledger on connections.
#[derive(Debug)]
pub struct PooledLedger<C>(pub(crate) C);

impl<C: Connections> LedgerEngine for PooledLedger<C>
where
    C::Connection: LedgerConnection,
{
    const RECORDS_MAX: usize = C::Connection::RECORDS_MAX;
    const BATCH_MAX: usize = C::Connection::BATCH_MAX;

    async fn transact<T: Send>(
        &self,
        verb: &'static str,
        selection: &Selection<'_>,
        decide: impl Fn(&mut Records) -> Result<T, Refusal> + Send + Sync,
    ) -> Result<T, SourceError> {
        let token = selection.token.then(|| net::token(self.0.env()));
        self.0.perform(Transaction { verb, selection, token, decide: &decide }).await
    }

    async fn view(&self, verb: &'static str, selection: &Selection<'_>) -> Result<Records, SourceError> {
        self.0.perform(View { verb, selection }).await
    }

    async fn count_at_once(
        &self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> Result<Option<Answer<Vec<DenseTaken>>>, SourceError> {
        if !C::Connection::COUNTS_AT_ONCE {
            return Ok(None);
        }
        self.0.perform(CountAtOnce { pass, asks }).await
    }

    async fn inspect(&self) -> Result<LedgerInspection, SourceError> {
        self.0.perform(Inspect).await
    }

    async fn examine(&self, most: usize) -> Result<Examined, SourceError> {
        self.0.look(Examine { most }).await
    }

    async fn disconnect(&self, leaving: Option<ServerId>) {
        if let Some(server) = leaving {
            // If this fails, the row is removed later with other old ones.
            let _ = self.0.perform_if_connected(Delist { server }).await;
        }
        self.0.close().await;
    }
}

struct Transaction<'a, T> {
    verb: &'static str,
    selection: &'a Selection<'a>,
    token: Option<String>,
    decide: Decide<'a, T>,
}

impl<C: LedgerConnection, T: Send> Operation<C> for Transaction<'_, T> {
    type Out = T;

    fn name(&self) -> &'static str {
        self.verb
    }

    fn mode(&self) -> TxMode {
        TxMode::Write
    }

    async fn run(&self, connection: &mut C) -> Result<T, Fault> {
        connection.transact(self.selection, self.token.as_deref(), self.decide).await
    }
}

struct View<'a> {
    verb: &'static str,
    selection: &'a Selection<'a>,
}

impl<C: LedgerConnection> Operation<C> for View<'_> {
    type Out = Records;

    fn name(&self) -> &'static str {
        self.verb
    }

    fn mode(&self) -> TxMode {
        if self.selection.is_of_one_moment() { TxMode::Read } else { TxMode::Single }
    }

    async fn run(&self, connection: &mut C) -> Result<Records, Fault> {
        connection.view(self.selection).await
    }
}

struct CountAtOnce<'a> {
    pass: &'a Pass<'a>,
    asks: &'a [DenseAsk],
}

impl<C: LedgerConnection> Operation<C> for CountAtOnce<'_> {
    type Out = Option<Answer<Vec<DenseTaken>>>;

    fn name(&self) -> &'static str {
        "count in"
    }

    async fn run(&self, connection: &mut C) -> Result<Self::Out, Fault> {
        connection.count_at_once(self.pass, self.asks).await
    }
}

struct Inspect;

impl<C: LedgerConnection> Operation<C> for Inspect {
    type Out = LedgerInspection;

    fn name(&self) -> &'static str {
        "inspect"
    }

    fn mode(&self) -> TxMode {
        C::INSPECTS_BY
    }

    fn looks_again(&self) -> bool {
        true
    }

    async fn run(&self, connection: &mut C) -> Result<LedgerInspection, Fault> {
        connection.inspect().await
    }
}

struct Examine {
    most: usize,
}

impl<C: LedgerConnection> Operation<C> for Examine {
    type Out = Examined;

    fn name(&self) -> &'static str {
        "examine"
    }

    fn mode(&self) -> TxMode {
        TxMode::Read
    }

    async fn run(&self, connection: &mut C) -> Result<Examined, Fault> {
        connection.examine(self.most).await
    }
}

struct Delist {
    server: ServerId,
}

impl<C: LedgerConnection> Operation<C> for Delist {
    type Out = ();

    fn name(&self) -> &'static str {
        "delist from"
    }

    async fn run(&self, connection: &mut C) -> Result<(), Fault> {
        connection.delist(self.server).await
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Answer(error) => error.into(),
            Refusal::OtherInstance(error) => Self::refused(error.context()),
        }
    }
}
