//! PostgreSQL connection to one set of tables, with the instance read when it was opened.

use sequent_core::{Fact, InstanceId};
use sqlx::{Connection as _, PgConnection};

use super::{
    durability::{durability, losses},
    fault::from_driver,
    privileges,
    schema::{self, Tables},
    server::PostgresServer,
    session::{bound, values},
};
use crate::{
    net::{self, Fault, Purpose, Run, TxMode, missing, token},
    sql::{self, ServerFacts, SqlRow, SqlSession, Value},
};

/// Placeholder in examinations for a server run without a name.
const NOBODY: &str = "nobody";

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(super) driver: PgConnection,
    pub(super) tables: &'static Tables,
    /// The process id of the server's backend.
    pub(super) pid: i64,
    /// The anchor's file, which each statement that counts compares.
    pub(super) file: i64,
    pub(super) instance: InstanceId,
}

impl Connection {
    /// Connects, creates missing tables if allowed, and reads the instance.
    ///
    /// The server enforces that a connection which only looks changes nothing. Its instance equals that of other
    /// connections only if one of them has connected since the server's last recovery.
    pub(super) async fn open(server: &PostgresServer, purpose: Purpose) -> Result<Self, Fault> {
        let mut connection = Self::log_in(server).await?;
        let looks = purpose == Purpose::Look;
        if looks {
            connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", Vec::new()).await?;
        }
        if !schema::exists(&mut connection, server.schema()).await? {
            if !purpose.creates(&server.options) {
                return Err(missing("tables", purpose));
            }
            schema::create(&mut connection, server).await?;
        }
        schema::check_kind(&mut connection).await?;
        if !looks {
            connection.name_run(server).await?;
        }
        connection.learn(if looks { NOBODY.into() } else { Value::NoText }).await?;
        Ok(connection)
    }

    /// Gives the server's run a name, if it has none.
    async fn name_run(&mut self, server: &PostgresServer) -> Result<(), Fault> {
        if self.rows("SELECT one FROM run", Vec::new()).await?.is_empty() {
            let sql = "INSERT INTO run (one, uuid) VALUES (1, $1) ON CONFLICT (one) DO NOTHING";
            self.execute(sql, vec![token(&server.options.env).as_str().into()]).await?;
        }
        Ok(())
    }

    /// Reads the instance: the cluster and its timeline, the server's start time, the run since the last recovery
    /// (table `run`), and the anchor's file. None of it needs a privilege. `unnamed` stands for a run without a name,
    /// under which no client counts.
    async fn learn(&mut self, unnamed: Value) -> Result<(), Fault> {
        let sql = "SELECT s.system_identifier, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), \
            (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, coalesce(r.uuid, $2), \
            pg_relation_filenode($1::text::regclass)::bigint, pg_backend_pid() \
            FROM pg_control_system() s LEFT JOIN run r ON true WHERE coalesce(r.uuid, $2) IS NOT NULL";
        let mut row = self.only(sql, vec![self.tables.anchor.into(), unnamed]).await?;
        let (system, timeline, start, run) = (row.int()?, row.text()?, row.int()?, row.text()?);
        let file = row.maybe_int()?;
        self.check_process(row.int()?)?;
        let anchor = self.tables.anchor;
        self.file = file.ok_or_else(|| Fault::refused(format!("{anchor} is not a table")))?;
        self.instance =
            InstanceId::new(format!("postgres {system:x} {timeline} {start} {run} {}", self.file));
        Ok(())
    }

    /// Removes the last two columns of a row, the anchor's file and the server's process, and compares them with those
    /// of the opening.
    pub(super) fn check_origin(&self, row: &mut SqlRow) -> Result<(), Fault> {
        let (pid, file) = (row.take_last()?.unwrap_or(0), row.take_last()?);
        self.check_process(pid)?;
        if file == Some(self.file) {
            return Ok(());
        }
        let now = file.map_or("none".to_owned(), |file| file.to_string());
        Err(Fault::stale(format!("the tables' file was {}, and is now {now}", self.file)))
    }
}

impl net::Connection for Connection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        self.driver.ping().await.map_err(from_driver)
    }

    async fn attempt<T: Send>(&mut self, mode: TxMode, run: &Run<'_, Self, T>) -> Result<T, Fault> {
        sql::attempt(self, mode, run).await
    }
}

impl SqlSession for Connection {
    /// Keys are bytes, because no collation folds bytes, and a PostgreSQL text can't contain a zero byte.
    fn text(text: &str) -> Value {
        Value::Bytes(text.as_bytes().to_vec())
    }

    fn begin(&self, mode: TxMode) -> &'static str {
        match mode {
            TxMode::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            TxMode::Single | TxMode::Write => "BEGIN",
        }
    }

    /// Runs the statement to its end, commit included: single rows would arrive before the commit.
    async fn rows(&mut self, sql: &str, params: Vec<Value>) -> Result<Vec<SqlRow>, Fault> {
        let rows = bound(sql, params).fetch_all(&mut self.driver).await.map_err(from_driver)?;
        values(&rows).map_err(from_driver)
    }

    async fn execute(&mut self, sql: &str, params: Vec<Value>) -> Result<u64, Fault> {
        let done = bound(sql, params).execute(&mut self.driver).await.map_err(from_driver)?;
        Ok(done.rows_affected())
    }

    async fn server_facts(&mut self) -> Result<ServerFacts, Fault> {
        let version = self.only("SELECT current_setting('server_version')", Vec::new()).await?.text()?;
        Ok(ServerFacts { durability: durability(self).await?, engine: format!("PostgreSQL {version}") })
    }

    async fn facts(&mut self) -> Result<Vec<Fact>, Fault> {
        let mut facts = losses(&durability(self).await?.settings);
        facts.extend(privileges::facts(self).await?);
        Ok(facts)
    }
}
