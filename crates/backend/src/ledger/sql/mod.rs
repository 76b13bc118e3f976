//! A ledger in tables, once for every SQL engine: an engine brings its statements, its connections, and how it tells who speaks.

mod dialect;
mod load;
mod save;
mod works;

use sequent_core::{
    Incarnation, SlotIndex, SourceError,
    ledger::{
        Answer, Counter, DenseAsk, DenseRow, DenseTaken, LedgerInspection, Moved, Pass, PastLife, Row,
        ServerId,
    },
};

use super::{Examined, Keys, LedgerEngine, Records, Refusal, Selection};

pub(crate) use dialect::{Hold, LedgerSession, SqlFacts, SqlLedger, Statements};
use works::{Delist, DenseRows, Examine, History, Inspect, Moves, Rows, Transaction, View};

impl<L: SqlLedger> LedgerEngine for L {
    async fn transact<T: Send>(
        &self,
        verb: &'static str,
        selection: &Selection<'_>,
        decide: impl Fn(&mut Records) -> Result<T, Refusal> + Send + Sync,
    ) -> Result<T, SourceError> {
        let token = selection.token.then(|| self.new_token());
        self.perform(Transaction { verb, selection, token, decide }).await
    }

    async fn view(&self, verb: &'static str, selection: &Selection<'_>) -> Result<Records, SourceError> {
        self.perform(View { verb, selection }).await
    }

    async fn rows(
        &self,
        slot: Option<SlotIndex>,
        keys: Keys<'_>,
        most: usize,
    ) -> Result<Vec<(Counter, Row)>, SourceError> {
        self.perform(Rows { slot, keys, most }).await
    }

    async fn dense_rows(&self, keys: Keys<'_>, most: usize) -> Result<Vec<DenseRow>, SourceError> {
        self.perform(DenseRows { keys, most }).await
    }

    async fn history(&self, counter: &Counter) -> Result<Vec<PastLife>, SourceError> {
        self.perform(History { counter }).await
    }

    async fn moved(&self, since: u64, most: usize) -> Result<(Incarnation, Vec<Moved>), SourceError> {
        self.perform(Moves { since, most }).await
    }

    async fn count_at_once(
        &self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> Result<Option<Answer<Vec<DenseTaken>>>, SourceError> {
        self.count_in_one_statement(pass, asks).await
    }

    async fn inspect(&self) -> Result<LedgerInspection, SourceError> {
        self.perform(Inspect).await
    }

    async fn examine(&self, most: usize) -> Result<Examined, SourceError> {
        self.look(Examine { most }).await
    }

    async fn delist(&self, server: ServerId) -> Result<(), SourceError> {
        self.perform_if_connected(Delist { server }).await
    }

    async fn disconnect(&self) {
        self.close().await;
    }
}
