//! What an engine brings: reading and writing the records of one transaction, a few scans, and facts about itself.

use std::future::Future;

use sequent_core::{
    Fact, InstanceId, SlotIndex, SourceError,
    ledger::{
        Answer, Counter, DenseAsk, DenseRow, DenseTaken, LayoutPage, LedgerInspection, Moved, Pass,
        PastEpoch, Row, ServerId,
    },
};

use super::{Records, Selection};

/// Which keys a scan is of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keys<'a> {
    /// All of them.
    All,
    /// This one, and those that begin with it and `|`: of a sequence's name, its keys. After `|` comes `}`.
    Of(&'a str),
    /// From the first on, and before the second.
    Between(&'a str, &'a str),
}

/// Why a rule writes nothing.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The answer to this call.
    Answer(SourceError),
    /// The run on record is another one: a new connection may lead to it.
    OtherRun(SourceError),
}

impl From<SourceError> for Refusal {
    fn from(error: SourceError) -> Self {
        Self::Answer(error)
    }
}

/// What a look on a connection that can change nothing has found.
#[derive(Debug)]
pub(crate) struct Examined {
    /// What the ledger says of itself.
    pub(crate) inspection: LedgerInspection,
    /// The layout's page.
    pub(crate) layout: Option<LayoutPage>,
    /// The first rows.
    pub(crate) rows: Vec<(Counter, Row)>,
    /// What is worth knowing besides.
    pub(crate) facts: Vec<Fact>,
}

/// An engine that can hold a ledger.
///
/// A transaction of [`transact`](Self::transact) is as if it were alone: two that write follow one another.
pub(crate) trait LedgerEngine: Send + Sync + 'static {
    /// How many records one transaction holds, beside the few that each has.
    const RECORDS_MAX: usize = usize::MAX;

    /// How many counters a caller names in one call.
    const BATCH_MAX: usize = 4096;

    /// Reads the records, lets `decide` note changes, and writes these, all in one transaction; `verb` names it in errors.
    ///
    /// `decide` is run again where others wrote meanwhile. Where it refuses, nothing is written.
    fn transact<T: Send>(
        &self,
        verb: &'static str,
        selection: &Selection<'_>,
        decide: impl Fn(&mut Records) -> Result<T, Refusal> + Send + Sync,
    ) -> impl Future<Output = Result<T, SourceError>> + Send;

    /// Reads the records as they were at one moment.
    fn view(
        &self,
        verb: &'static str,
        selection: &Selection<'_>,
    ) -> impl Future<Output = Result<Records, SourceError>> + Send;

    /// The rows of a slot, or of all slots, at most `most`, ascending by slot and key.
    fn rows(
        &self,
        slot: Option<SlotIndex>,
        keys: Keys<'_>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<(Counter, Row)>, SourceError>> + Send;

    /// The dense counters, at most `most`, ascending by key.
    fn dense_rows(
        &self,
        keys: Keys<'_>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<DenseRow>, SourceError>> + Send;

    /// The ended epochs of a counter, oldest first.
    fn history(&self, counter: &Counter) -> impl Future<Output = Result<Vec<PastEpoch>, SourceError>> + Send;

    /// The rows moved since the version `since`, by version, at most `most`; and who speaks.
    fn moved(
        &self,
        since: u64,
        most: usize,
    ) -> impl Future<Output = Result<(InstanceId, Vec<Moved>), SourceError>> + Send;

    /// Counts in one statement, where the engine has one for these asks and nothing speaks against it; `None` otherwise, and
    /// nothing was written.
    fn count_at_once(
        &self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> impl Future<Output = Result<Option<Answer<Vec<DenseTaken>>>, SourceError>> + Send {
        let _ = (pass, asks);
        std::future::ready(Ok(None))
    }

    /// What the ledger says of itself on a fresh look.
    fn inspect(&self) -> impl Future<Output = Result<LedgerInspection, SourceError>> + Send;

    /// The same, the layout and at most `most` rows on a connection that can change nothing, and what is worth knowing besides.
    fn examine(&self, most: usize) -> impl Future<Output = Result<Examined, SourceError>> + Send;

    /// Removes a server's row, if there is a connection.
    fn delist(&self, server: ServerId) -> impl Future<Output = Result<(), SourceError>> + Send;

    /// Closes the connections; the next call opens another.
    fn disconnect(&self) -> impl Future<Output = ()> + Send;
}
