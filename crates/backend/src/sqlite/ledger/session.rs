//! Ledger session of SQLite.

use sequent_core::InstanceId;

use super::statements::STATEMENTS;
use crate::{
    ledger::sql::{LedgerSession, Statements},
    net::{Fault, TxMode},
    sql::SqlSession as _,
    sqlite::connection::Connection,
};

impl LedgerSession for Connection {
    // A writer's lock detects a locked or read-only file. Nothing is written: the ledger may belong to another cluster.
    const INSPECT_MODE: TxMode = TxMode::Write;
    const STATEMENTS: &'static Statements = &STATEMENTS;

    fn instance_of(&self, token: &str) -> InstanceId {
        self.as_token(token)
    }

    /// The transaction itself locks the file.
    async fn hold(&mut self, _mode: TxMode) -> Result<(String, u64), Fault> {
        let token = self.only("SELECT token FROM meta", Vec::new()).await?.text()?;
        Ok((token, self.wall_ms()))
    }
}
