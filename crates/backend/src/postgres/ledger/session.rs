//! Ledger session of PostgreSQL.

use sequent_core::InstanceId;

use super::statements::STATEMENTS;
use crate::{
    ledger::sql::{LedgerSession, Statements},
    net::{Connection as _, Fault, TxMode},
    postgres::connection::Connection,
    sql::SqlSession as _,
};

/// Reads the token, the server's clock, and the anchor's file and server process of the answer.
const LOOK: &str = "SELECT token, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, \
    pg_relation_filenode('counters'::regclass)::bigint, pg_backend_pid() FROM meta";

/// As `LOOK`, with a lock that other writers wait for until this transaction ends. The clock is read under the lock.
const LOCK: &str = "SELECT token, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, \
    pg_relation_filenode('counters'::regclass)::bigint, pg_backend_pid() \
    FROM (SELECT token FROM meta FOR UPDATE) AS held";

/// Reads the ledger's tables that a subscription of this database writes to. Every role may read them.
const SUBSCRIBED: &str = "SELECT string_agg(srrelid::regclass::text, ', ') FROM pg_subscription_rel \
    WHERE srrelid IN ('meta'::regclass, 'dense'::regclass, 'counters'::regclass)";

impl LedgerSession for Connection {
    const STATEMENTS: &'static Statements = &STATEMENTS;

    fn instance_of(&self, token: &str) -> InstanceId {
        InstanceId::new(format!("{} {token}", self.instance()))
    }

    async fn hold(&mut self, mode: TxMode) -> Result<(String, u64), Fault> {
        let sql = if mode == TxMode::Write { LOCK } else { LOOK };
        let mut row = self.only(sql, Vec::new()).await?;
        self.check_origin(&mut row)?;
        Ok((row.text()?, row.count()?))
    }

    async fn other_master(&mut self) -> Result<Option<String>, Fault> {
        let subscribed = self.only(SUBSCRIBED, Vec::new()).await?.maybe_text()?;
        Ok(subscribed.map(|tables| format!("tables of a logical subscription: {tables}")))
    }
}
