//! The ledger in one database; each file here is one of `sequent_core::ledger`'s books.
//!
//! Every call that writes locks the row of `sequent_meta` first, so that writers follow each other and nobody waits for two
//! locks at once. What a call asks of many counters goes to the server in a few statements.

mod batch;
mod catalog;
mod dense;
mod examine;
mod identity;
mod layout_book;
mod lives;
mod masters;
mod pass;
mod recovery;
mod retention;
mod rows;
mod schema;
mod show_up;
mod words;

use std::sync::{Mutex, MutexGuard, PoisonError};

use sequent_core::ledger::ServerId;

use super::{options::MysqlOptions, pool::Pool, schema::token};
use identity::Delist;

/// A ledger in one MySQL or MariaDB database, for one server or many.
///
/// Making one touches nothing; the first call connects.
pub struct MysqlLedger {
    pool: Pool,
    /// The server that calls through this handle.
    enlisted: Mutex<Option<ServerId>>,
}

impl MysqlLedger {
    /// The ledger in the database that the options name.
    pub fn new(options: MysqlOptions) -> Self {
        Self { pool: Pool::new(options, &schema::LEDGER), enlisted: Mutex::default() }
    }

    /// Removes the row of the server that enlisted through this handle, and closes the connections; who enlists again may
    /// call again.
    pub async fn disconnect(&self) {
        let enlisted = self.enlisted().take();
        if let Some(server) = enlisted {
            // What can't be removed now goes with other old ones.
            let _ = self.pool.perform_if_connected(Delist { server }).await;
        }
        self.pool.close().await;
    }

    fn enlisted(&self) -> MutexGuard<'_, Option<ServerId>> {
        self.enlisted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn token(&self) -> String {
        token(&*self.pool.options().entropy)
    }
}

/// A number as a row holds it: what is above 2^63 - 1 no counter can reach.
fn capped(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number as it was kept; below zero only by hand.
fn kept(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
