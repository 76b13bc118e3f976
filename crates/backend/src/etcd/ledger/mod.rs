//! The ledger under one prefix; each file here is one of `sequent_core::ledger`'s books.
//!
//! # Batches
//!
//! One transaction of etcd holds the rows of some hundred counters, so a call of more is several, one after the other. Each
//! is a call by itself: it shows the caller's nonce and replaces it, raises the version by one if it moves a row, and
//! is done whole or not at all. What the next one shows is not the nonce alone, but the very revision that wrote it: data
//! that was put back in between lacks it. So a batch promises what as many calls would, and its version is the last one's;
//! a call that fails midway has an unknown outcome, as every call that fails.
//!
//! What an operator names as lost is not added to a million rows in one transaction: the sum of all losses is kept
//! (`losses`), and each row with the sum that it was written under. What was lost since is added whenever a row is read.
//!
//! What a call moved is written a second time, under its version, for those who ask what moved. So much of that is kept as
//! [`MOVES_KEPT`] says: who was away for longer hears of the rest when it shows up for its own counters.

mod admit;
mod advances;
mod catalog;
mod dense;
mod examine;
mod identity;
mod kept;
mod layout_book;
mod lives;
mod moves;
mod page;
mod rebase;
mod recovery;
mod retention;
mod rows;
mod show_up;
mod transact;
mod words;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sequent_core::ledger::ServerId;

use super::{
    link::Link,
    options::{EtcdOptions, Target},
};
use crate::wire::{Limits, Pool};
use identity::Delist;

/// How many versions back it is known what each moved: at two calls a second, two hours; a write of dense numbers is a version, too.
const MOVES_KEPT: u64 = 16_384;

/// A ledger under one prefix of an etcd cluster. Handles to one prefix, in this process or another, are one ledger.
///
/// Making one touches nothing; the first call connects.
///
/// ```no_run
/// use sequent_backend::etcd::{EtcdLedger, EtcdOptions};
/// use sequent_core::ledger::Identity;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let options = EtcdOptions::from_url("http://etcd-a.example:2379,http://etcd-b.example:2379")?;
/// let ledger = EtcdLedger::new(EtcdOptions { create: true, ..options });
/// let first = ledger.inspect().await?;
/// let second = ledger.inspect().await?;
/// assert_eq!((first.id, first.incarnation), (second.id, second.incarnation));
/// ledger.disconnect().await;
/// # Ok(())
/// # }
/// ```
pub struct EtcdLedger {
    pool: Pool<Link>,
    /// The server that calls through this handle.
    enlisted: Mutex<Option<ServerId>>,
}

impl EtcdLedger {
    /// The ledger that the options name.
    pub fn new(options: EtcdOptions) -> Self {
        let limits = Limits {
            connections_max: options.connections_max.clamp(1, EtcdOptions::CONNECTIONS_MAX),
            connect: options.connect_limit,
            clock: options.clock.clone(),
        };
        let shown = options.address();
        let pool = Pool::new(Arc::new(Target::new(options)), limits, shown);
        Self { pool, enlisted: Mutex::default() }
    }

    /// Removes the row of the server that enlisted through this handle, and closes the connections; who enlists again
    /// may call again.
    pub async fn disconnect(&self) {
        let enlisted = self.enlisted().take();
        if let Some(server) = enlisted {
            // What can't be removed now goes after a day.
            let _ = self.pool.perform(Delist { server }).await;
        }
        self.pool.renew();
    }

    fn enlisted(&self) -> MutexGuard<'_, Option<ServerId>> {
        self.enlisted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for EtcdLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdLedger").field("address", &self.pool.shown()).finish_non_exhaustive()
    }
}
