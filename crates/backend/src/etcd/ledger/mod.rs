//! The ledger under one prefix.
//!
//! One transaction of etcd holds the records of some hundred counters, so a call of more is several, one after the other.
//!
//! What an operator names as lost is not added to a million rows in one transaction: the sum of all losses is kept (`losses`), and each
//! row with the sum that it was written under. What was lost since is added whenever a row is read.
//!
//! What a call moved is written a second time, under its version, for those who ask what moved. So much of that is kept as
//! `MOVES_KEPT` in `save.rs` says: who was away for longer hears of the rest at the heartbeat of its own counters.

mod engine;
mod facts;
mod formats;
mod load;
mod save;
mod scans;
mod transact;
mod works;

use std::{fmt, sync::Arc};

use super::cluster::EtcdCluster;
use crate::{
    ledger::CoreLedger,
    net::{Pool, ServerOptions},
};

/// A ledger under one prefix of an etcd cluster. Handles to one prefix, in this process or another, are one ledger.
///
/// ```no_run
/// use sequent_backend::{etcd::EtcdLedger, net::ServerOptions};
/// use sequent_core::ledger::Identity;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let options = ServerOptions::from_url("http://etcd-a.example:2379,http://etcd-b.example:2379")?;
/// let ledger = EtcdLedger::new(ServerOptions { create: true, ..options });
/// let first = ledger.inspect().await?;
/// let second = ledger.inspect().await?;
/// assert_eq!((first.id, first.instance), (second.id, second.instance));
/// ledger.disconnect().await;
/// # Ok(())
/// # }
/// ```
pub type EtcdLedger = CoreLedger<EtcdLedgerEngine>;

/// The engine of an [`EtcdLedger`].
pub struct EtcdLedgerEngine {
    pool: Pool<Arc<EtcdCluster>>,
}

impl EtcdLedger {
    /// The ledger that the options name.
    pub fn new(options: ServerOptions) -> Self {
        Self::on(EtcdLedgerEngine { pool: Pool::new(Arc::new(EtcdCluster::new(options))) })
    }
}

impl fmt::Debug for EtcdLedgerEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdLedgerEngine")
            .field("url", &self.pool.server().options.url)
            .finish_non_exhaustive()
    }
}
