//! One connection to one set of tables, and what was learned when it was opened: who answers there.

use sequent_core::InstanceId;
use sqlx::Connection as _;

use super::{
    fault::from_driver,
    schema::{self, Tables},
    server::PostgresServer,
    session::Session,
};
use crate::{
    net::{self, Fault, Operation, TxMode, token},
    sql::{self, SqlRow, SqlSession, Value},
};

/// What whoever looks calls a run of the server that has no name.
const NOBODY: &str = "nobody";

/// An open connection, and what was learned when it was opened.
#[derive(Debug)]
pub(crate) struct Connection {
    session: Session,
    /// The file of the anchor, which each statement that counts compares.
    file: i64,
    instance: InstanceId,
}

impl Connection {
    /// Connects, makes the tables if they are missing and may be made, and learns who answers.
    pub(super) async fn open(server: &PostgresServer, is_known: bool) -> Result<Self, Fault> {
        let mut session = Session::open(server).await?;
        if !schema::exists(&mut session, server.schema()).await? {
            if is_known || !server.options.create {
                return Err(schema::missing(is_known));
            }
            schema::create(&mut session, server).await?;
        }
        schema::check_kind(&mut session, server.tables).await?;
        name_run(&mut session, server).await?;
        Self::learn(session, server.tables, Value::NoText).await
    }

    /// Connects to look: the server itself sees to it that nothing is changed. Who answers is known to others only where
    /// one of them has connected since the server's last recovery.
    pub(super) async fn open_to_look(server: &PostgresServer) -> Result<Self, Fault> {
        let mut session = Session::open(server).await?;
        session.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", Vec::new()).await?;
        if !schema::exists(&mut session, server.schema()).await? {
            return Err(schema::missing(false));
        }
        schema::check_kind(&mut session, server.tables).await?;
        Self::learn(session, server.tables, NOBODY.into()).await
    }

    /// Which run of which data answers: the cluster and its timeline, the start of the server, the recovery since that
    /// (`run`), and the tables (the anchor's file). None of it needs a privilege. A run without a name is none that anybody
    /// counts under: only whoever looks has a name for it.
    async fn learn(mut session: Session, tables: &Tables, unnamed: Value) -> Result<Self, Fault> {
        let sql = "SELECT s.system_identifier, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), \
            (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, coalesce(r.uuid, $2), \
            pg_relation_filenode($1::text::regclass)::bigint, pg_backend_pid() \
            FROM pg_control_system() s LEFT JOIN run r ON true WHERE coalesce(r.uuid, $2) IS NOT NULL";
        let mut row = session.only(sql, vec![tables.anchor.into(), unnamed]).await?;
        let (system, timeline, start, run) = (row.int()?, row.text()?, row.int()?, row.text()?);
        let file = row.maybe_int()?;
        session.check_process(row.int()?)?;
        let file = file.ok_or_else(|| Fault::refused(format!("{} is not a table", tables.anchor)))?;
        let instance = InstanceId::new(format!("postgres {system:x} {timeline} {start} {run} {file}"));
        Ok(Self { session, file, instance })
    }

    /// What statements run on.
    pub(super) fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The file of the anchor.
    pub(super) fn file(&self) -> i64 {
        self.file
    }

    /// Takes away the last columns of a row, the anchor's file and the server's process, and compares them with what was learned.
    pub(super) fn check_origin(&self, row: &mut SqlRow) -> Result<(), Fault> {
        let (pid, file) = (row.take_last()?.unwrap_or(0), row.take_last()?);
        self.session.check_process(pid)?;
        if file == Some(self.file) {
            return Ok(());
        }
        let now = file.map_or("none".to_owned(), |file| file.to_string());
        Err(Fault::stale(format!("the tables' file was {}, and is now {now}", self.file)))
    }
}

/// Gives a run of the server its name, if it has none.
async fn name_run(session: &mut Session, server: &PostgresServer) -> Result<(), Fault> {
    if session.rows("SELECT one FROM run", Vec::new()).await?.is_empty() {
        let sql = "INSERT INTO run (one, uuid) VALUES (1, $1) ON CONFLICT (one) DO NOTHING";
        session.execute(sql, vec![token(&server.options.env).as_str().into()]).await?;
    }
    Ok(())
}

impl net::Connection for Connection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        self.session.connection.ping().await.map_err(from_driver)
    }

    async fn attempt<O: Operation<Self>>(&mut self, operation: &O) -> Result<O::Out, Fault> {
        sql::attempt(self, operation).await
    }
}

impl SqlSession for Connection {
    /// Keys are bytes: no collation folds them, and a text may hold no zero byte here.
    fn text(text: &str) -> Value {
        Value::Bytes(text.as_bytes().to_vec())
    }

    fn begin(&self, mode: TxMode) -> &'static str {
        match mode {
            TxMode::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            TxMode::Single | TxMode::Write => "BEGIN",
        }
    }

    async fn rows(&mut self, sql: &str, params: Vec<Value>) -> Result<Vec<SqlRow>, Fault> {
        self.session.rows(sql, params).await
    }

    async fn execute(&mut self, sql: &str, params: Vec<Value>) -> Result<u64, Fault> {
        self.session.execute(sql, params).await
    }
}
