//! One session: connected, logged in, and with the settings that everything else rests on.

use sequent_core::ErrorKind;
use sqlx::{
    ConnectOptions, PgConnection, Postgres,
    postgres::{PgArguments, PgRow},
    query::{Query, QueryAs},
    query_as,
};

use super::{
    fault::{Fault, PROXY},
    target::Target,
};

/// What every session sets, and what the server must then say that it is. Sent as it is opened: a proxy that shares out
/// connections refuses such parameters, or drops them, which shows.
///
/// - READ COMMITTED: the statements were raced under it.
/// - A lock is waited for as long as `patience` lasts, which is less than an attempt's limit; and what nobody waits for
///   any more, a statement or a transaction of a process that hangs, ends by itself, and with it its locks.
pub(super) const SESSION: [(&str, &str); 5] = [
    ("default_transaction_isolation", "read committed"),
    ("synchronous_commit", "on"),
    ("lock_timeout", "700ms"),
    ("statement_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "2s"),
];

/// How often the server looks, during a statement, whether its client is still there. From PostgreSQL 14.
const CLIENT_CHECK: &str = "SET client_connection_check_interval = '1s'";

/// A connection. Whatever is given up is closed by being dropped.
#[derive(Debug)]
pub(super) struct Session {
    connection: PgConnection,
    /// The server's process behind it.
    pid: i32,
}

impl Session {
    /// Connects and logs in within the limit. A proxy that shares out connections is refused; a server that takes no
    /// writes is away, until it is promoted or replaced.
    pub(super) async fn open(target: &Target) -> Result<Self, Fault> {
        let options = target.driver_options().await?;
        let limit = target.options.connect_limit;
        let connection = tokio::time::timeout(limit, options.connect()).await.map_err(|_| {
            let cause = format!("not connected within {} ms", limit.as_millis());
            Fault::broken(ErrorKind::Unavailable, cause)
        })??;
        let mut session = Self { connection, pid: 0 };
        // Servers before 14 don't know it, nor does every system.
        let _ = session.run(sqlx::query(CLIENT_CHECK)).await;
        session.search_only(&target.schema.quoted()).await?;
        session.check_settings().await?;
        Ok(session)
    }

    /// Tables are found in the one schema alone; and the server takes writes.
    async fn search_only(&mut self, schema: &str) -> Result<(), Fault> {
        let sql = "SELECT pg_backend_pid(), pg_is_in_recovery(), current_setting('transaction_read_only'), \
            set_config('search_path', $1, false)";
        let search = query_as(sql).bind(schema);
        let (pid, standby, read_only, _): (i32, bool, String, String) = self.only(search).await?;
        self.pid = pid;
        let cause = if standby {
            "the server is a standby, which takes no writes: promote it, or connect to its primary"
        } else if read_only != "off" {
            "default_transaction_read_only is on, expected off: the server takes no writes"
        } else {
            return Ok(());
        };
        Err(Fault::broken(ErrorKind::Unavailable, cause))
    }

    /// The settings hold in another transaction, on the same process of the server.
    async fn check_settings(&mut self) -> Result<(), Fault> {
        for (name, found) in self.settings(&SESSION.map(|(name, _)| name)).await? {
            let expected = SESSION.iter().find(|(own, _)| *own == name).map_or("", |(_, value)| value);
            if found != expected {
                let cause = format!("{name}: found {found}, expected {expected} as set{PROXY}");
                return Err(Fault::broken(ErrorKind::Refused, cause));
            }
        }
        let (pid,): (i32,) = self.only(query_as("SELECT pg_backend_pid()")).await?;
        self.same(pid)
    }

    /// The settings of these names, in that order.
    pub(super) async fn settings(&mut self, names: &[&str]) -> Result<Vec<(String, String)>, Fault> {
        let sql = "SELECT name, current_setting(name) FROM unnest($1::text[]) WITH ORDINALITY AS a (name, at) \
            ORDER BY at";
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        self.rows(query_as(sql).bind(names)).await
    }

    /// Refuses a connection behind which the server's process has changed: what was learned of it is not true any more.
    pub(super) fn same(&self, pid: i32) -> Result<(), Fault> {
        if pid == self.pid {
            return Ok(());
        }
        let cause = format!("the server's process was {}, and is now {pid}{PROXY}", self.pid);
        Err(Fault::broken(ErrorKind::Refused, cause))
    }

    /// What statements run on.
    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// The same as [`rows`](Self::rows), whatever the columns hold.
    pub(super) async fn all(&mut self, query: Query<'_, Postgres, PgArguments>) -> Result<Vec<PgRow>, Fault> {
        Ok(query.fetch_all(&mut self.connection).await?)
    }

    /// Every row of a statement that has run to its end, commit included: rows arrive before it.
    pub(super) async fn rows<O>(
        &mut self,
        query: QueryAs<'_, Postgres, O, PgArguments>,
    ) -> Result<Vec<O>, Fault>
    where
        O: Send + Unpin + for<'r> sqlx::FromRow<'r, PgRow>,
    {
        Ok(query.fetch_all(&mut self.connection).await?)
    }

    /// The row of a statement that has run to its end, if there was one.
    pub(super) async fn row<O>(
        &mut self,
        query: QueryAs<'_, Postgres, O, PgArguments>,
    ) -> Result<Option<O>, Fault>
    where
        O: Send + Unpin + for<'r> sqlx::FromRow<'r, PgRow>,
    {
        Ok(self.rows(query).await?.into_iter().next())
    }

    /// The row of a statement that always has one.
    pub(super) async fn only<O>(&mut self, query: QueryAs<'_, Postgres, O, PgArguments>) -> Result<O, Fault>
    where
        O: Send + Unpin + for<'r> sqlx::FromRow<'r, PgRow>,
    {
        self.row(query)
            .await?
            .ok_or_else(|| Fault::broken(ErrorKind::Refused, "a row that every schema of ours has is gone"))
    }

    /// Runs a statement to its end; returns how many rows it touched.
    pub(super) async fn run(&mut self, query: Query<'_, Postgres, PgArguments>) -> Result<u64, Fault> {
        Ok(query.execute(&mut self.connection).await?.rows_affected())
    }
}
