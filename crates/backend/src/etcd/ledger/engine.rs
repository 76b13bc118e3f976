//! Ledger engine on etcd: operations of the ledger's rules.

use sequent_core::{
    SourceError,
    ledger::{LedgerInspection, ServerId},
};

use super::{
    EtcdLedgerEngine,
    load::RECORDS_MAX,
    operations::{Delist, Examine, Inspect, Transaction, View},
};
use crate::{
    ledger::{Examined, LedgerEngine, Records, Refusal, Selection},
    net::Connections,
};

impl LedgerEngine for EtcdLedgerEngine {
    const RECORDS_MAX: usize = RECORDS_MAX;

    // A call with this many counters takes about ten transactions.
    const BATCH_MAX: usize = 1024;

    async fn transact<T: Send>(
        &self,
        verb: &'static str,
        selection: &Selection<'_>,
        decide: impl Fn(&mut Records) -> Result<T, Refusal> + Send + Sync,
    ) -> Result<T, SourceError> {
        self.pool.perform(Transaction { verb, selection, decide }).await
    }

    async fn view(&self, verb: &'static str, selection: &Selection<'_>) -> Result<Records, SourceError> {
        self.pool.perform(View { verb, selection }).await
    }

    async fn inspect(&self) -> Result<LedgerInspection, SourceError> {
        self.pool.perform(Inspect).await
    }

    async fn examine(&self, most: usize) -> Result<Examined, SourceError> {
        self.pool.look(Examine { most }).await
    }

    async fn delist(&self, server: ServerId) -> Result<(), SourceError> {
        self.pool.perform(Delist { server }).await
    }

    async fn disconnect(&self) {
        self.pool.close().await;
    }
}
