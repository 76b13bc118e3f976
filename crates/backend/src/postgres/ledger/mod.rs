//! The ledger in one schema.
//!
//! Every transaction that writes locks the row of `meta` first, so writers follow each other; it is a handful of statements however
//! many counters it holds.

mod schema;
mod session;
mod statements;

use sequent_core::SourceError;

use super::{PostgresOptions, PostgresUrl, database::Database, link::Link, options::token};
use crate::{
    ledger::{CoreLedger, sql::SqlLedger},
    sql::Work,
};

/// A ledger in one schema of a PostgreSQL database. Handles to one schema, in this process or another, are one ledger.
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
pub type PostgresLedger = CoreLedger<PostgresLedgerEngine>;

/// The engine of a [`PostgresLedger`].
#[derive(Debug)]
pub struct PostgresLedgerEngine {
    database: Database,
}

impl PostgresLedger {
    /// The ledger in the options' schema of the database at `url`.
    pub fn new(url: PostgresUrl, options: PostgresOptions) -> Self {
        Self::on(PostgresLedgerEngine { database: Database::new(url, &schema::KIND, options) })
    }
}

impl SqlLedger for PostgresLedgerEngine {
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
        self.database.close();
    }
}
