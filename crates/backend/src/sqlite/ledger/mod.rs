//! The ledger in one file.

mod schema;
mod session;
mod statements;

pub(super) use schema::APPLICATION_ID;

use std::path::PathBuf;

use sequent_core::SourceError;

use super::{SqliteOptions, create::token, database::Database, link::Link};
use crate::{
    ledger::{CoreLedger, sql::SqlLedger},
    sql::Work,
};

/// A ledger in one SQLite file. Handles to one file, in this process or another, are one ledger. The last process to leave a file
/// takes `-wal` and `-shm` with it.
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
pub type SqliteLedger = CoreLedger<SqliteLedgerEngine>;

/// The engine of a [`SqliteLedger`].
pub struct SqliteLedgerEngine {
    database: Database,
}

impl SqliteLedger {
    /// The ledger in the file at `path`.
    pub fn new(path: impl Into<PathBuf>, options: SqliteOptions) -> Self {
        Self::on(SqliteLedgerEngine { database: Database::new(path.into(), &schema::KIND, options) })
    }
}

impl SqlLedger for SqliteLedgerEngine {
    type Session = Link;

    fn new_token(&self) -> String {
        token(&*self.database.options().entropy)
    }

    async fn perform<W: Work<Link>>(&self, work: W) -> Result<W::Out, SourceError> {
        self.database.perform(work).await
    }

    async fn look<W: Work<Link>>(&self, work: W) -> Result<W::Out, SourceError> {
        self.database.look(work).await
    }

    async fn perform_if_connected<W: Work<Link, Out = ()>>(&self, work: W) -> Result<(), SourceError> {
        self.database.perform_if_connected(work).await.map(drop)
    }

    async fn close(&self) {
        self.database.close().await;
    }
}
