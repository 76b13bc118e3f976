//! Ledger session of PostgreSQL.

use sequent_core::{Fact, InstanceId};

use super::{schema::TABLES, statements::STATEMENTS};
use crate::{
    ledger::sql::{Hold, LedgerSession, SqlFacts, Statements},
    net::{Connection as _, Fault},
    postgres::{
        connection::Connection,
        durability::{durability, losses},
        privileges::{self, Needed},
    },
};

const NEEDED: &Needed = &[
    ("about", "SELECT"),
    ("run", "SELECT, INSERT"),
    ("history", "SELECT, INSERT"),
    ("meta", "SELECT, UPDATE"),
    ("dense", "SELECT, INSERT, UPDATE"),
    ("counters", "SELECT, INSERT, UPDATE, DELETE"),
    ("servers", "SELECT, INSERT, UPDATE, DELETE"),
    ("documents", "SELECT, INSERT, UPDATE, DELETE"),
];

/// Reads the token, the server's clock, and the anchor's file and server process of the answer.
const LOOK: &str = "SELECT token, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, \
    pg_relation_filenode('counters'::regclass)::bigint, pg_backend_pid() FROM meta";

/// As `LOOK`, with a lock that other writers wait for until this transaction ends. The clock is read under the lock.
const LOCK: &str = "SELECT token, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, \
    pg_relation_filenode('counters'::regclass)::bigint, pg_backend_pid() \
    FROM (SELECT token FROM meta FOR UPDATE) AS held";

/// Reads the server's version, and the ledger's tables that a subscription of this database writes to. Every role may
/// read them.
const FACTS: &str = "SELECT current_setting('server_version'), \
    (SELECT string_agg(srrelid::regclass::text, ', ') FROM pg_subscription_rel \
    WHERE srrelid IN ('meta'::regclass, 'dense'::regclass, 'counters'::regclass))";

impl LedgerSession for Connection {
    const STATEMENTS: &'static Statements = &STATEMENTS;

    fn instance_of(&self, token: &str) -> InstanceId {
        InstanceId::new(format!("{} {token}", self.instance()))
    }

    async fn hold(&mut self, hold: Hold) -> Result<(String, u64), Fault> {
        let sql = if hold == Hold::Write { LOCK } else { LOOK };
        let mut row = self.only(sql, Vec::new()).await?;
        self.check_origin(&mut row)?;
        Ok((row.text()?, row.count()?))
    }

    async fn facts(&mut self) -> Result<SqlFacts, Fault> {
        let mut row = self.only(FACTS, Vec::new()).await?;
        let (version, subscribed) = (row.text()?, row.maybe_text()?);
        Ok(SqlFacts {
            durability: durability(self, TABLES.anchor).await?,
            engine: format!("PostgreSQL {version}"),
            other_master: subscribed.map(|tables| format!("tables of a logical subscription: {tables}")),
        })
    }

    async fn further_facts(&mut self, facts: &SqlFacts) -> Result<Vec<Fact>, Fault> {
        let mut found = losses(&facts.durability.settings);
        found.extend(privileges::facts(self, NEEDED).await?);
        Ok(found)
    }
}
