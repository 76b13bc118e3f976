//! Ledger session of MySQL and MariaDB.

use sequent_core::{
    InstanceId,
    ledger::{Answer, DenseAsk, DenseTaken, Pass},
};

use super::{count::Quick, masters::other_master, statements::STATEMENTS};
use crate::{
    ledger::sql::{LedgerSession, Statements},
    mysql::connection::Connection,
    net::{Connection as _, Fault, TxMode},
    sql::SqlSession as _,
};

impl LedgerSession for Connection {
    const INSPECT_MODE: TxMode = TxMode::Single;
    const STATEMENTS: &'static Statements = &STATEMENTS;

    fn instance_of(&self, token: &str) -> InstanceId {
        InstanceId::new(format!("{} ledger {token}", self.instance()))
    }

    async fn hold(&mut self, mode: TxMode) -> Result<(String, u64), Fault> {
        let sql = match mode {
            TxMode::Write => {
                "SELECT token, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) FROM sequent_meta WHERE one = 1 FOR UPDATE"
            }
            TxMode::Read => {
                "SELECT token, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) FROM sequent_meta WHERE one = 1 \
                LOCK IN SHARE MODE"
            }
            TxMode::Single => {
                "SELECT token, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) FROM sequent_meta WHERE one = 1"
            }
        };
        let mut row = self.only(sql, Vec::new()).await?;
        Ok((row.text()?, row.count()?))
    }

    const HAS_COUNT_STATEMENT: bool = true;

    async fn count_in_one_statement(
        &mut self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> Result<Option<Answer<Vec<DenseTaken>>>, Fault> {
        match Quick::of(pass, asks) {
            Some(quick) => quick.run(self).await,
            None => Ok(None),
        }
    }

    async fn other_master(&mut self) -> Result<Option<String>, Fault> {
        other_master(self).await
    }
}

/// The ledger's token if its instance here is `instance`; `None` if the instance is another one.
pub(super) fn token_of<'a>(connection: &Connection, instance: &'a InstanceId) -> Option<&'a str> {
    instance.as_str().strip_prefix(connection.instance().as_str())?.strip_prefix(" ledger ")
}
