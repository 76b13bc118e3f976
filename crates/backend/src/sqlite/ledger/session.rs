//! Ledger session of SQLite.

use sequent_core::{Fact, InstanceId};

use super::statements::STATEMENTS;
use crate::{
    ledger::sql::{Hold, LedgerSession, SqlFacts, Statements},
    net::{Fault, TxMode},
    sqlite::{connection::Connection, disk},
};

impl LedgerSession for Connection {
    // A writer's lock detects a locked or read-only file. Nothing is written: the ledger may belong to another cluster.
    const INSPECT_MODE: TxMode = TxMode::Write;
    const STATEMENTS: &'static Statements = &STATEMENTS;

    fn instance_of(&self, token: &str) -> InstanceId {
        self.as_token(token)
    }

    /// The transaction itself locks the file.
    async fn hold(&mut self, _hold: Hold) -> Result<(String, u64), Fault> {
        let token = self.only("SELECT token FROM meta").await?.text()?;
        Ok((token, self.wall_ms()))
    }

    async fn facts(&mut self) -> Result<SqlFacts, Fault> {
        let durability = self.durability().clone();
        Ok(SqlFacts { durability, engine: self.engine().await?, other_master: None })
    }

    async fn further_facts(&mut self, _facts: &SqlFacts) -> Result<Vec<Fact>, Fault> {
        disk::facts(self).await
    }
}
