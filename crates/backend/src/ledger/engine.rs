//! Interface of a ledger engine: transactions over records, scans, and facts about its server.

use std::future::Future;

use sequent_core::{
    Fact, SourceError,
    ledger::{Answer, DenseAsk, DenseTaken, LedgerInspection, Pass, ServerId},
};

use super::{Records, Selection};

/// The reason why a rule writes nothing.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The call's own error.
    Answer(SourceError),
    /// The instance on record is another one. A new connection may reach it.
    OtherInstance(SourceError),
}

impl From<SourceError> for Refusal {
    fn from(error: SourceError) -> Self {
        Self::Answer(error)
    }
}

/// The result of a read-only examination.
#[derive(Debug)]
pub(crate) struct Examined {
    /// The identity, durability and clock of the ledger.
    pub(crate) inspection: LedgerInspection,
    /// The layout, and the first rows.
    pub(crate) records: Records,
    /// Further facts.
    pub(crate) facts: Vec<Fact>,
}

/// An engine that can store a ledger.
///
/// Transactions of [`transact`](Self::transact) are serializable: of two that write, one follows the other.
pub(crate) trait LedgerEngine: Send + Sync + 'static {
    /// The most records in one transaction, beside the few that each has.
    const RECORDS_MAX: usize = usize::MAX;

    /// The most counters in one call.
    const BATCH_MAX: usize = 4096;

    /// Reads the records, lets `decide` note changes, and writes them, all in one transaction. `verb` names the call in
    /// errors.
    ///
    /// `decide` runs again if another client wrote meanwhile. If it refuses, nothing is written.
    fn transact<T: Send + 'static>(
        &self,
        verb: &'static str,
        selection: &Selection<'_>,
        decide: impl Fn(&mut Records) -> Result<T, Refusal> + Send + Sync,
    ) -> impl Future<Output = Result<T, SourceError>> + Send;

    /// Reads the records as of one moment. A scan's records may be read a moment later.
    fn view(
        &self,
        verb: &'static str,
        selection: &Selection<'_>,
    ) -> impl Future<Output = Result<Records, SourceError>> + Send;

    /// Counts in one statement, if the engine has one for these asks and nothing prevents it. Otherwise `None`, and
    /// nothing was written.
    fn count_at_once(
        &self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> impl Future<Output = Result<Option<Answer<Vec<DenseTaken>>>, SourceError>> + Send {
        let _ = (pass, asks);
        std::future::ready(Ok(None))
    }

    /// Reads the ledger's identity, durability and clock anew.
    fn inspect(&self) -> impl Future<Output = Result<LedgerInspection, SourceError>> + Send;

    /// As `inspect`, with the layout, at most `most` rows and further facts, on a connection that can't change
    /// anything.
    fn examine(&self, most: usize) -> impl Future<Output = Result<Examined, SourceError>> + Send;

    /// Removes the row of a leaving server, if a connection is open, and closes the connections. The next call opens
    /// another.
    fn disconnect(&self, leaving: Option<ServerId>) -> impl Future<Output = ()> + Send;
}
