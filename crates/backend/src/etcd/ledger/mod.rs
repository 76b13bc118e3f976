//! Ledger on etcd, under one prefix.
//!
//! One etcd transaction has room for the records of about a hundred counters. A call on more is split into several, one
//! after the other.
//!
//! A loss stated by an operator is not added to a million rows in one transaction. Instead the sum of all losses is
//! stored (`losses`), and each row has the sum at the time of its write. The difference is added whenever a row is
//! read.
//!
//! Changed rows are also written under the call's version, for servers that ask for changes. `MOVES_KEPT` in `save.rs`
//! limits how many versions are kept. A server that was away for longer learns the rest at the heartbeat of its own
//! counters.

mod connection;
mod facts;
mod formats;
mod load;
mod pages;
mod save;
mod transact;

use std::sync::Arc;

use super::cluster::EtcdCluster;
use crate::{
    ledger::CoreLedger,
    net::{Pool, ServerOptions},
};

/// A ledger under one prefix of an etcd cluster. All handles to one prefix, in this process or another, are one ledger.
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
pub type EtcdLedger = CoreLedger<Pool<Arc<EtcdCluster>>>;

impl EtcdLedger {
    /// The ledger on the options' cluster and prefix.
    pub fn new(options: ServerOptions) -> Self {
        Self::on(Pool::new(Arc::new(EtcdCluster::new(options))))
    }
}
