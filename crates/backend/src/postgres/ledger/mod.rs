//! PostgreSQL ledger, in one schema.
//!
//! Every transaction that writes locks the row of `meta` first, so writers follow one another. It has few statements,
//! however many counters it writes.

mod schema;
mod session;
mod statements;

use super::server::PostgresServer;
use crate::{
    ledger::CoreLedger,
    net::{Pool, ServerOptions},
};

/// A ledger in one schema of a PostgreSQL database. All handles to one schema, in this process or another, are one
/// ledger.
///
/// ```no_run
/// use sequent_backend::{net::ServerOptions, postgres::PostgresLedger};
/// use sequent_core::ledger::Identity;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let options = ServerOptions::from_url("postgres://seq@db.example/seq")?;
/// let ledger = PostgresLedger::new(ServerOptions { create: true, ..options });
/// let first = ledger.inspect().await?;
/// let second = ledger.inspect().await?;
/// assert_eq!((first.id, first.instance), (second.id, second.instance));
/// ledger.disconnect().await;
/// # Ok(())
/// # }
/// ```
pub type PostgresLedger = CoreLedger<Pool<PostgresServer>>;

impl PostgresLedger {
    /// The ledger in the options' database and schema.
    pub fn new(options: ServerOptions) -> Self {
        Self::on(Pool::new(PostgresServer { options, tables: &schema::TABLES }))
    }
}
