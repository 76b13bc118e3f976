//! Ledgers on connections: the calls of an engine, written once. An engine brings the calls on one
//! connection.

use std::future::Future;

use sequent_core::{
    SourceError,
    ledger::{Answer, DenseAsk, DenseTaken, LedgerInspection, Pass, ServerId},
};

use super::{Examined, LedgerEngine, Records, Refusal, Selection};
use crate::net::{self, Connection, Connections, Fault, Terms, TxMode};

/// A rule's decision on the records of a transaction.
pub(crate) type Decide<'a, T> = &'a (dyn Fn(&mut Records) -> Result<T, Refusal> + Send + Sync + 'a);

/// A connection to a ledger. Each call's contract is that of [`LedgerEngine`].
pub(crate) trait LedgerConnection: Connection + 'static {
    /// As [`LedgerEngine::RECORDS_MAX`].
    const RECORDS_MAX: usize = usize::MAX;

    /// As [`LedgerEngine::BATCH_MAX`].
    const BATCH_MAX: usize = 4096;

    /// Transaction mode of an inspection.
    const INSPECT_MODE: TxMode = TxMode::Read;

    /// Whether the engine can count in one statement.
    const COUNTS_AT_ONCE: bool = false;

    /// Reads, decides and writes within the call's transaction. `token` is the new token, if one is needed.
    fn transact<T: Send + 'static>(
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

impl<C: Connections<Connection: LedgerConnection>> LedgerEngine for C {
    const RECORDS_MAX: usize = C::Connection::RECORDS_MAX;
    const BATCH_MAX: usize = C::Connection::BATCH_MAX;

    async fn transact<T: Send + 'static>(
        &self,
        verb: &'static str,
        selection: &Selection<'_>,
        decide: impl Fn(&mut Records) -> Result<T, Refusal> + Send + Sync,
    ) -> Result<T, SourceError> {
        let token = selection.token.then(|| net::token(self.env()));
        let (token, decide): (_, Decide<'_, T>) = (token.as_deref(), &decide);
        let terms = Terms { mode: TxMode::Write, ..Terms::named(verb) };
        self.perform(terms, &|lent| Box::pin(lent.0.transact(selection, token, decide))).await
    }

    async fn view(&self, verb: &'static str, selection: &Selection<'_>) -> Result<Records, SourceError> {
        let terms = Terms { mode: selection.mode(), ..Terms::named(verb) };
        self.perform(terms, &|lent| Box::pin(lent.0.view(selection))).await
    }

    async fn count_at_once(
        &self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> Result<Option<Answer<Vec<DenseTaken>>>, SourceError> {
        if !C::Connection::COUNTS_AT_ONCE {
            return Ok(None);
        }
        let terms = Terms::named("count in");
        self.perform(terms, &|lent| Box::pin(lent.0.count_at_once(pass, asks))).await
    }

    async fn inspect(&self) -> Result<LedgerInspection, SourceError> {
        let mode = C::Connection::INSPECT_MODE;
        let terms = Terms { mode, looks_again: true, ..Terms::named("inspect") };
        self.perform(terms, &|lent| Box::pin(lent.0.inspect())).await
    }

    async fn examine(&self, most: usize) -> Result<Examined, SourceError> {
        let terms = Terms { mode: TxMode::Read, ..Terms::named("examine") };
        self.look(terms, &|lent| Box::pin(lent.0.examine(most))).await
    }

    async fn disconnect(&self, leaving: Option<ServerId>) {
        if let Some(server) = leaving
            && self.is_connected().await
        {
            // If this fails, the row is removed later with other old ones.
            let terms = Terms::named("delist from");
            let _ = self.perform(terms, &|lent| Box::pin(lent.0.delist(server))).await;
        }
        self.close().await;
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
