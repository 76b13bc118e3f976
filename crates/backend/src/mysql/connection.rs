//! MySQL connection: opened, configured for the statements, and identified by its instance.

use std::time::Duration;

use mysql_async::{Conn, QueryResult, Row, prelude::*};
use sequent_core::{ErrorKind, Fact, FactClass, InstanceId};
use tokio::time::timeout;

use super::{
    privileges::{self, Needed},
    server::{MysqlServer, connect},
    settings::{self, Settings},
    tables::{self, Tables},
};
use crate::{
    net::{self, Fault, Purpose, Run, TxMode, not_within, token, within},
    sql::{self, ServerFacts, SqlRow, SqlSession, Value, bounded},
};

/// Session settings that every statement needs:
///
/// - `STRICT_ALL_TABLES`: without it, a take of several rows in an ended epoch would succeed.
/// - `NO_AUTO_VALUE_ON_ZERO`: an anchor of 0 is stored as 0.
/// - `autocommit` and `completion_type`: one statement is one transaction, whose end begins no other and closes no
///   connection.
/// - `innodb_lock_wait_timeout`: a wait for a lock ends with an error after one second, the least value possible.
/// - `time_zone`: times are compared as text, so there is one zone.
///
/// An attempt's time limit is one second by default too. A lock wait may then end as `Timeout` instead of `Contended`.
/// The layers above treat both alike (a slow event, and no id), but a timeout costs the connection. MariaDB's
/// `max_statement_time` is shorter, but would also end statements delayed by a slow disk or a busy processor.
const SESSION: &str = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION', \
    autocommit = 1, completion_type = 0, time_zone = '+00:00', innodb_lock_wait_timeout = 1, lock_wait_timeout = 2";

/// The isolation level of the race tests.
const READ_COMMITTED: &str = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

/// The same for a connection that can't change anything, which the server enforces.
const READ_ONLY: &str = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY";

/// Placeholder in examinations for a server run without a token.
const NOBODY: &str = "nobody";

/// Time limit of the first use if tables may have to be created. The server syncs each of them to disk.
const MAKE_LIMIT: Duration = Duration::from_secs(10);

/// An open connection.
pub(crate) struct Connection {
    conn: Conn,
    pub(super) tables: &'static Tables,
    /// The server's settings as read last.
    pub(super) settings: Settings,
    instance: InstanceId,
}

/// The result of a statement that changes something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    /// Rows that matched the statement's condition.
    pub(super) found: u64,
    /// The id of the OK packet; 0 if it has none.
    pub(super) id: u64,
}

impl Connection {
    /// Connects within the time limit. The instance of a connection that only looks equals that of others only if one
    /// of them has connected since the server's start.
    pub(super) async fn open(server: &MysqlServer, purpose: Purpose) -> Result<Self, Fault> {
        let limit = server.options.connect_timeout;
        let conn = within(limit, connect(&server.options)).await??;
        let limit = if purpose.creates(&server.options) { limit.max(MAKE_LIMIT) } else { limit };
        // A server that has sent its greeting is present, so a timeout after it means slowness, not absence.
        let late = |_| Fault::Broken(ErrorKind::Timeout, not_within(limit));
        timeout(limit, Self::prepare(conn, server, purpose)).await.map_err(late)?
    }

    /// Applies the session settings, checks server and tables, and reads the instance.
    async fn prepare(conn: Conn, server: &MysqlServer, purpose: Purpose) -> Result<Self, Fault> {
        let (settings, instance) = (Settings::default(), InstanceId::new(""));
        let mut connection = Self { conn, tables: server.tables, settings, instance };
        let looks = purpose == Purpose::Look;
        connection.control(if looks { READ_ONLY } else { READ_COMMITTED }).await?;
        connection.text(&format!("{SESSION}{}", server.tables.session)).await?;
        connection.settings = connection.read_settings().await?;
        connection.settings.admit()?;
        if !looks {
            connection.admit_tables().await?;
        }
        let made = tables::settle(&mut connection, server, purpose.creates(&server.options)).await?;
        let boot = if looks {
            connection.read_boot().await?.unwrap_or_else(|| NOBODY.to_owned())
        } else {
            let boot = connection.boot(server).await?;
            connection.check_way().await?;
            boot
        };
        connection.instance = connection.named(&boot, &made);
        Ok(connection)
    }

    async fn read_settings(&mut self) -> Result<Settings, Fault> {
        let rows = self.rows(settings::ASK, Vec::new()).await?;
        let pairs = rows.into_iter().map(|mut row| Ok((row.text()?, row.text()?)));
        Ok(Settings::new(pairs.collect::<Result<_, Fault>>()?))
    }

    /// Fails for a server that does not meet the tables' requirements.
    async fn admit_tables(&mut self) -> Result<(), Fault> {
        let tables = self.tables;
        if self.settings.is_mariadb() && tables.transactions {
            // A client suspended inside a transaction must not hold locks for long. MySQL has no such setting; there
            // `wait_timeout` closes the connection.
            self.control("SET SESSION idle_transaction_timeout = 3").await?;
        }
        if tables.auto_increment {
            self.settings.admit_auto_increment()?;
        }
        if tables.transactions {
            self.settings.admit_skip_locked()?;
        }
        Ok(())
    }

    /// The token of this run of the server. The first client writes it.
    async fn boot(&mut self, server: &MysqlServer) -> Result<String, Fault> {
        if let Some(boot) = self.read_boot().await? {
            return Ok(boot);
        }
        let token = token(&server.options.env);
        let sql = "INSERT IGNORE INTO sequent_boot (one, token) VALUES (1, ?)";
        self.exec(sql, vec![token.as_str().into()]).await?;
        self.read_boot().await?.ok_or_else(|| Fault::refused("table sequent_boot keeps nothing"))
    }

    /// Fails for a database in which ids are counted in another way.
    async fn check_way(&mut self) -> Result<(), Fault> {
        let Some(way) = self.tables.way else { return Ok(()) };
        let found = self.way().await?.unwrap_or_default();
        if found == way {
            return Ok(());
        }
        Err(Fault::refused(format!(
            "this database counts in {found}, and this store in {way}: take the kind of store that it was made by, or another \
             database"
        )))
    }

    /// The way of counting noted when the tables were created.
    async fn way(&mut self) -> Result<Option<String>, Fault> {
        Ok(self.only("SELECT way FROM sequent_shard WHERE one = 1", Vec::new()).await?.maybe_text()?)
    }

    /// Reads the token together with the connection id that the server knows. This detects a proxy that spreads
    /// statements over several connections, which would mix up sessions.
    async fn read_boot(&mut self) -> Result<Option<String>, Fault> {
        let sql = "SELECT CONNECTION_ID(), (SELECT token FROM sequent_boot WHERE one = 1)";
        let mut row = self.only(sql, Vec::new()).await?;
        let (id, token) = (row.count()?, row.maybe_text()?);
        let greeted = u64::from(self.conn.id());
        if id & u64::from(u32::MAX) != greeted {
            return Err(Fault::refused(format!(
                "connection {greeted} was greeted, connection {id} answers: a proxy that multiplexes stands between; \
                 connect to the server itself"
            )));
        }
        Ok(token)
    }

    /// Reads the instance and the settings again. A dump loaded meanwhile may have replaced the data under an open
    /// connection.
    async fn look_again(&mut self) -> Result<bool, Fault> {
        let boot = self.read_boot().await?;
        let made = tables::made(self).await?;
        self.settings = self.read_settings().await?;
        let sql = "SELECT CAST(@@global.read_only AS CHAR)";
        let read_only = self.only(sql, Vec::new()).await?.text()?;
        let same = boot.zip(made).is_some_and(|(boot, made)| self.named(&boot, &made) == self.instance);
        Ok(same && matches!(read_only.as_str(), "0" | "OFF"))
    }

    fn named(&self, boot: &str, made: &str) -> InstanceId {
        let [server, host, port] = ["server_id", "hostname", "port"].map(|name| self.settings.get(name));
        InstanceId::new(format!("mysql {boot} server {server} {host}:{port} made {made}"))
    }

    /// Runs a statement that changes something.
    pub(super) async fn exec(&mut self, sql: &str, params: Vec<Value>) -> Result<Done, Fault> {
        done(self.conn.exec_iter(sql, bound(params)).await?).await
    }

    /// Runs a statement unprepared: it can't be prepared, or is needed only once.
    pub(super) async fn text(&mut self, sql: &str) -> Result<Done, Fault> {
        done(self.conn.query_iter(sql).await?).await
    }

    /// Facts for a read-only examination of tables on which these privileges are needed.
    pub(super) async fn facts_with(&mut self, needed: &Needed) -> Result<Vec<Fact>, Fault> {
        let mut facts = self.settings.losses();
        facts.extend(privileges::facts(self, needed).await?);
        if let Some(own) = self.tables.way
            && let Some(found) = self.way().await?
            && found != own
        {
            let fact = Fact::new(FactClass::Repeats, "way to count", &found).expected(own);
            let fact = fact.causes("two ways in one database would each give the same ids, so it is refused");
            facts.push(
                fact.mend("name the kind of store that this database was made by, or another database"),
            );
        }
        Ok(facts)
    }
}

impl net::Connection for Connection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        Ok(self.conn.ping().await?)
    }

    async fn is_current(&mut self) -> bool {
        self.look_again().await.unwrap_or(false)
    }

    async fn attempt<T: Send>(&mut self, mode: TxMode, run: &Run<'_, Self, T>) -> Result<T, Fault> {
        sql::attempt(self, mode, run).await
    }

    async fn close(self) {
        // A connection that fails to close is closed by being dropped.
        let _ = self.conn.disconnect().await;
    }
}

impl SqlSession for Connection {
    fn begin(&self, _mode: TxMode) -> &'static str {
        "START TRANSACTION"
    }

    async fn rows(&mut self, sql: &str, params: Vec<Value>) -> Result<Vec<SqlRow>, Fault> {
        let rows: Vec<Row> = self.conn.exec(sql, bound(params)).await?;
        Ok(rows.into_iter().map(values).collect())
    }

    async fn execute(&mut self, sql: &str, params: Vec<Value>) -> Result<u64, Fault> {
        Ok(self.exec(sql, params).await?.found)
    }

    /// Some servers can't prepare these statements.
    async fn control(&mut self, sql: &'static str) -> Result<(), Fault> {
        self.text(sql).await.map(drop)
    }

    async fn server_facts(&mut self) -> Result<ServerFacts, Fault> {
        Ok(ServerFacts { durability: self.settings.durability(), engine: self.settings.engine() })
    }

    async fn facts(&mut self) -> Result<Vec<Fact>, Fault> {
        self.facts_with(&self.tables.needed).await
    }
}

async fn done<P: Protocol>(result: QueryResult<'_, 'static, P>) -> Result<Done, Fault> {
    let done = Done { found: result.affected_rows(), id: result.last_insert_id().unwrap_or(0) };
    result.drop_result().await?;
    Ok(done)
}

/// The parameters of a prepared statement.
fn bound(params: Vec<Value>) -> Vec<mysql_async::Value> {
    let value = |value| match value {
        Value::Int(number) => mysql_async::Value::Int(number),
        Value::Text(text) => mysql_async::Value::Bytes(text.into_bytes()),
        Value::Bytes(bytes) => mysql_async::Value::Bytes(bytes),
        Value::Null | Value::NoText | Value::Ints(_) | Value::Texts(_) | Value::ManyBytes(_) => {
            mysql_async::Value::NULL
        }
    };
    params.into_iter().map(value).collect()
}

fn values(row: Row) -> SqlRow {
    let value = |value| match value {
        mysql_async::Value::Int(number) => Value::Int(number),
        mysql_async::Value::UInt(number) => Value::Int(bounded(number)),
        mysql_async::Value::Bytes(bytes) => Value::Bytes(bytes),
        // No column of our tables has another type.
        _ => Value::Null,
    };
    SqlRow::new(row.unwrap_raw().into_iter().map(|column| column.map_or(Value::Null, value)).collect())
}
