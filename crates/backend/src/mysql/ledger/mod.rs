//! The ledger in one database.

mod count;
mod masters;
mod schema;
mod session;
mod statements;

use sequent_core::{
    SourceError,
    ledger::{Answer, DenseAsk, DenseTaken, Pass},
};

use super::{link::Link, options::MysqlOptions, pool::Pool, schema::token};
use crate::{
    ledger::{CoreLedger, sql::SqlLedger},
    sql::Work,
};
use count::Quick;

/// A ledger in one MySQL or MariaDB database, for one server or many.
pub type MysqlLedger = CoreLedger<MysqlLedgerEngine>;

/// The engine of a [`MysqlLedger`].
pub struct MysqlLedgerEngine {
    pool: Pool,
}

impl MysqlLedger {
    /// The ledger in the database that the options name.
    pub fn new(options: MysqlOptions) -> Self {
        Self::on(MysqlLedgerEngine { pool: Pool::new(options, &schema::LEDGER) })
    }
}

impl SqlLedger for MysqlLedgerEngine {
    type Session = Link;

    fn new_token(&self) -> String {
        token(&*self.pool.options().entropy)
    }

    async fn perform<W: Work<Link>>(&self, work: W) -> Result<W::Out, SourceError> {
        self.pool.perform(work).await
    }

    async fn look<W: Work<Link>>(&self, work: W) -> Result<W::Out, SourceError> {
        self.pool.look(work).await
    }

    async fn perform_if_connected<W: Work<Link, Out = ()>>(&self, work: W) -> Result<(), SourceError> {
        self.pool.perform_if_connected(work).await.map(drop)
    }

    async fn count_in_one_statement(
        &self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> Result<Option<Answer<Vec<DenseTaken>>>, SourceError> {
        match Quick::of(pass, asks) {
            Some(quick) => self.pool.perform(quick).await,
            None => Ok(None),
        }
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}
