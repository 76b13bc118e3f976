//! SQLite ledger, in one file.

mod schema;
mod session;
mod statements;

pub(super) use schema::APPLICATION_ID;

use std::path::PathBuf;

use super::{SqliteOptions, database::Database};
use crate::ledger::CoreLedger;

/// A ledger in one SQLite file. All handles to one file, in this process or another, are one ledger. The last process
/// that closes the file removes `-wal` and `-shm`.
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
/// assert_eq!((first.id, first.instance), (second.id, second.instance));
/// ledger.disconnect().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type SqliteLedger = CoreLedger<Database>;

impl SqliteLedger {
    /// The ledger in the file at `path`.
    pub fn new(path: impl Into<PathBuf>, options: SqliteOptions) -> Self {
        Self::on(Database::new(path.into(), &schema::TABLES, options))
    }
}
