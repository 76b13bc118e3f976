//! SQL ledgers, written once: an engine brings statements, connections, and the way its instance id is made.

mod dialect;
mod load;
mod operations;
mod save;

use sequent_core::{
    SourceError,
    ledger::{Answer, DenseAsk, DenseTaken, LedgerInspection, Pass, ServerId},
};

use crate::net::{self, Connections};

use super::{Examined, Keys, LedgerEngine, Records, Refusal, Scan, Selection};

pub(crate) use dialect::{Hold, LedgerSession, SqlFacts, Statements};
use operations::{CountAtOnce, Delist, Examine, Inspect, Transaction, View};

/// A ledger in SQL tables.
#[derive(Debug)]
pub struct SqlLedger<C>(pub(crate) C);

impl<C: Connections> LedgerEngine for SqlLedger<C>
where
    C::Connection: LedgerSession,
{
    async fn transact<T: Send>(
        &self,
        verb: &'static str,
        selection: &Selection<'_>,
        decide: impl Fn(&mut Records) -> Result<T, Refusal> + Send + Sync,
    ) -> Result<T, SourceError> {
        let token = selection.token.then(|| net::token(self.0.env()));
        self.0.perform(Transaction { verb, selection, token, decide }).await
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

    async fn delist(&self, server: ServerId) -> Result<(), SourceError> {
        self.0.perform_if_connected(Delist { server }).await.map(drop)
    }

    async fn disconnect(&self) {
        self.0.close().await;
    }
}
