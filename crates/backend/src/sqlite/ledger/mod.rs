//! The ledger in one file; each file here is one of `sequent_core::ledger`'s books.

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

pub(super) use schema::APPLICATION_ID;

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use sequent_core::{Entropy, ledger::ServerId};

use super::{SqliteOptions, database::Database};
use identity::Delist;

/// A ledger in one SQLite file. Handles to one file, in this process or another, are one ledger.
///
/// Making one touches nothing; the first call connects.
///
/// ```
/// use sequent_backend::sqlite::{SqliteLedger, SqliteOptions};
/// use sequent_core::ledger::Identity;
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("ledger.db");
/// let ledger = SqliteLedger::new(path, SqliteOptions { create: true, ..SqliteOptions::default() });
/// let first = ledger.inspect().await?;
/// let second = ledger.inspect().await?;
/// assert_eq!((first.id, first.incarnation), (second.id, second.incarnation));
/// ledger.disconnect().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteLedger {
    database: Database,
    /// The server that calls through this handle.
    enlisted: Mutex<Option<ServerId>>,
}

impl SqliteLedger {
    /// The ledger in the file at `path`.
    pub fn new(path: impl Into<PathBuf>, options: SqliteOptions) -> Self {
        Self { database: Database::new(path.into(), &schema::KIND, options), enlisted: Mutex::default() }
    }

    /// Removes the row of the server that enlisted through this handle, and closes the connection; who enlists again may
    /// call again. The last process to leave a file takes `-wal` and `-shm` with it.
    pub async fn disconnect(&self) {
        let enlisted = self.enlisted().take();
        if let Some(server) = enlisted {
            // What can't be removed now goes with other old ones.
            let _ = self.database.perform_if_connected(Delist { server }).await;
        }
        self.database.close().await;
    }

    fn enlisted(&self) -> MutexGuard<'_, Option<ServerId>> {
        self.enlisted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entropy(&self) -> &dyn Entropy {
        &*self.database.options().entropy
    }
}

/// A number as the file holds it: what is above 2^63 - 1 no counter can reach.
fn capped(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number as it was kept; below zero only by hand.
fn kept(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
