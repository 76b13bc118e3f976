//! The ledger in one schema; each file here is one of `sequent_core::ledger`'s books.
//!
//! Every call that writes locks the row of `meta` first, so writers follow each other; a batch is a handful of
//! statements however many counters it holds.

mod batch;
mod catalog;
mod dense;
mod examine;
mod identity;
mod layout_book;
mod lives;
mod pass;
mod recovery;
mod retention;
mod rows;
mod schema;
mod show_up;
mod words;

use std::sync::{Mutex, MutexGuard, PoisonError};

use sequent_core::{ErrorKind, SourceError, ledger::ServerId};

use super::{PostgresOptions, PostgresUrl, database::Database, options::token};
use identity::Delist;

/// A ledger in one schema of a PostgreSQL database. Handles to one schema, in this process or another, are one ledger.
///
/// Making one touches nothing; the first call connects.
///
/// ```no_run
/// use sequent_backend::postgres::{PostgresLedger, PostgresOptions};
/// use sequent_core::ledger::Identity;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let url = "postgres://seq@db.example/seq".parse()?;
/// let ledger = PostgresLedger::new(url, PostgresOptions { create: true, ..PostgresOptions::default() });
/// let first = ledger.inspect().await?;
/// let second = ledger.inspect().await?;
/// assert_eq!((first.id, first.incarnation), (second.id, second.incarnation));
/// ledger.disconnect().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PostgresLedger {
    database: Database,
    /// The server that calls through this handle.
    enlisted: Mutex<Option<ServerId>>,
}

impl PostgresLedger {
    /// The ledger in the options' schema of the database at `url`.
    pub fn new(url: PostgresUrl, options: PostgresOptions) -> Self {
        Self { database: Database::new(url, &schema::KIND, options), enlisted: Mutex::default() }
    }

    /// Removes the row of the server that enlisted through this handle, and closes the connections; who enlists again
    /// may call again.
    pub async fn disconnect(&self) {
        let enlisted = self.enlisted().take();
        if let Some(server) = enlisted {
            // What can't be removed now goes with other old ones.
            let _ = self.database.perform_if_connected(Delist { server }).await;
        }
        self.database.close();
    }

    fn enlisted(&self) -> MutexGuard<'_, Option<ServerId>> {
        self.enlisted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn token(&self) -> String {
        token(&*self.database.options().entropy)
    }
}

/// A number as a table holds it: what is above 2^63 - 1 no counter can reach.
fn capped(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number as it was kept; below zero only by hand.
fn kept(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// A slot or another small number, as it was kept.
fn small<T: TryFrom<i32>>(what: &str, value: i32) -> Result<T, SourceError> {
    value
        .try_into()
        .map_err(|_| SourceError::new(ErrorKind::Refused, format!("{what} in the ledger is {value}")))
}

/// What people wrote, as it was kept.
fn text(what: &str, bytes: Vec<u8>) -> Result<String, SourceError> {
    String::from_utf8(bytes)
        .map_err(|error| SourceError::new(ErrorKind::Refused, format!("{what} in the ledger")).because(error))
}
