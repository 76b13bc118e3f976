//! One connection: opened, set to what the statements rest on, and known by its incarnation.

use std::time::{Duration, Instant};

use mysql_async::{Conn, DriverError, Error, Params, prelude::*};
use sequent_core::{ErrorKind, Incarnation, SourceError};
use tokio::time::timeout;

use super::{
    fault::Fault,
    options::{MysqlOptions, MysqlTls},
    schema::{self, Schema},
    settings::{self, Settings},
};

/// What every statement here rests on:
///
/// - `STRICT_ALL_TABLES`: without it a take of a dead life by several rows succeeds;
/// - `NO_AUTO_VALUE_ON_ZERO`: an anchor of 0 is a row of 0;
/// - one statement is one transaction, and the end of one begins no other and ends no connection; who waits for a lock gives up after a second and says so;
///   a second is the least that the server can be told. An attempt's limit is as long by default, so that its wait then ends as `Timeout` and not as
///   `Contended`: to the rooms above that is the same (a slow event, and no id), and costs the connection. MariaDB could end each statement earlier
///   (`max_statement_time`), but that would also end what a slow disk or a busy processor holds up, which waits for nobody;
/// - times are compared as text, so there is one zone.
const SESSION: &str = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION', \
    autocommit = 1, completion_type = 0, time_zone = '+00:00', innodb_lock_wait_timeout = 1, lock_wait_timeout = 2";

/// How long the first look may take where tables may have to be made, each of which the server brings to its disk.
const MAKE_LIMIT: Duration = Duration::from_secs(10);

/// An open connection, and what was learned when it was opened.
pub(crate) struct Link {
    conn: Conn,
    settings: Settings,
    incarnation: Incarnation,
    /// When it was given back last.
    pub(super) idle_since: Instant,
}

/// What the server said of a statement that changes something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    /// Rows that the statement's condition found.
    pub(super) found: u64,
    /// The id of the OK packet, 0 if it bore none.
    pub(super) id: u64,
}

impl Link {
    /// Connects within the limit. With `create`, missing tables are made.
    pub(super) async fn open(options: &MysqlOptions, schema: &Schema, create: bool) -> Result<Self, Fault> {
        let conn = within(ErrorKind::Unavailable, options.connect_limit, connect(options)).await?;
        let limit = if create { options.connect_limit.max(MAKE_LIMIT) } else { options.connect_limit };
        // Whoever greets is there, however far away: that is slowness, not absence.
        within(ErrorKind::Timeout, limit, Self::introduce(conn, options, schema, create)).await
    }

    async fn introduce(
        conn: Conn,
        options: &MysqlOptions,
        schema: &Schema,
        create: bool,
    ) -> Result<Self, Fault> {
        let (settings, incarnation) = (Settings::new(Vec::new()), Incarnation::new(""));
        let mut link = Self { conn, settings, incarnation, idle_since: options.clock.now() };
        link.text("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").await?;
        link.text(&format!("{SESSION}{}", schema.session)).await?;
        link.settings = Settings::new(link.rows(settings::ASK, ()).await?);
        if link.settings.is_mariadb() && schema.transactions {
            // Who was suspended amid a transaction must not keep the others from the locks for as long. MySQL has no such
            // setting: there `wait_timeout` cuts it off.
            link.text("SET SESSION idle_transaction_timeout = 3").await?;
        }
        link.settings.admit()?;
        if schema.auto_increment {
            link.settings.admit_auto_increment()?;
        }
        if schema.transactions {
            link.settings.admit_skip_locked()?;
        }
        let made = schema::settle(&mut link, schema, create, &*options.entropy).await?;
        let boot = link.boot(options, schema).await?;
        link.keep_to(schema).await?;
        link.incarnation = link.named(&boot, &made);
        Ok(link)
    }

    /// Connects to look: the server itself sees to it that nothing is changed. Who speaks is known to others only where
    /// one of them has connected since the server's start.
    pub(super) async fn look(options: &MysqlOptions, schema: &Schema) -> Result<Self, Fault> {
        let conn = within(ErrorKind::Unavailable, options.connect_limit, connect(options)).await?;
        within(ErrorKind::Timeout, options.connect_limit, async {
            let (settings, incarnation) = (Settings::new(Vec::new()), Incarnation::new(""));
            let mut link = Self { conn, settings, incarnation, idle_since: options.clock.now() };
            link.text("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY").await?;
            link.text(&format!("{SESSION}{}", schema.session)).await?;
            link.settings = Settings::new(link.rows(settings::ASK, ()).await?);
            link.settings.admit()?;
            let made = schema::settle(&mut link, schema, false, &*options.entropy).await?;
            let boot = link.read_boot(schema).await?.unwrap_or_else(|| "nobody".to_owned());
            link.incarnation = link.named(&boot, &made);
            Ok(link)
        })
        .await
    }

    /// The token of this run of the server, left by whoever came first.
    async fn boot(&mut self, options: &MysqlOptions, schema: &Schema) -> Result<String, Fault> {
        if let Some(boot) = self.read_boot(schema).await? {
            return Ok(boot);
        }
        let token = schema::token(&*options.entropy);
        self.exec(&format!("INSERT IGNORE INTO {} (one, token) VALUES (1, ?)", schema.boot), (token,))
            .await?;
        self.read_boot(schema)
            .await?
            .ok_or_else(|| Fault::refused(format!("table {} keeps nothing", schema.boot)))
    }

    /// Notes how ids are counted here, or refuses a database in which they are counted otherwise.
    async fn keep_to(&mut self, schema: &Schema) -> Result<(), Fault> {
        let Some(way) = schema.way else { return Ok(()) };
        let sql = "SELECT (SELECT said FROM sequent_identity WHERE name = 'way')";
        let (mut found,): (Option<String>,) = self.only(sql, ()).await?;
        if found.is_none() {
            self.exec("INSERT IGNORE INTO sequent_identity (name, said) VALUES ('way', ?)", (way,)).await?;
            (found,) = self.only(sql, ()).await?;
        }
        let found = found.unwrap_or_default();
        if found == way {
            return Ok(());
        }
        let cause = format!(
            "this database counts in {found}, and this store in {way}: take the kind of store that it was made by, or another \
             database"
        );
        Err(Fault::refused(cause))
    }

    /// Reads it together with the connection's id, as the server that answers knows it: something in between that spreads
    /// statements over several connections would mix up sessions.
    async fn read_boot(&mut self, schema: &Schema) -> Result<Option<String>, Fault> {
        let sql = format!("SELECT CONNECTION_ID(), (SELECT token FROM {} WHERE one = 1)", schema.boot);
        let (id, token): (u64, Option<String>) = self.only(&sql, ()).await?;
        let greeted = u64::from(self.conn.id());
        if id & u64::from(u32::MAX) != greeted {
            let cause = format!(
                "connection {greeted} was greeted, connection {id} answers: a proxy that multiplexes stands between; \
                 connect to the server itself"
            );
            return Err(Fault::refused(cause));
        }
        Ok(token)
    }

    /// Looks again at what the incarnation is made of, and at the settings; what a connection learned when it was opened may have been replaced
    /// under it, by a dump that was loaded.
    pub(super) async fn speaks_still(&mut self, schema: &Schema) -> Result<bool, Fault> {
        let boot = self.read_boot(schema).await?;
        let made = schema::made(self, schema).await?;
        self.settings = Settings::new(self.rows(settings::ASK, ()).await?);
        let (read_only,): (String,) = self.only("SELECT CAST(@@global.read_only AS CHAR)", ()).await?;
        let same = boot.zip(made).is_some_and(|(boot, made)| self.named(&boot, &made) == self.incarnation);
        Ok(same && matches!(read_only.as_str(), "0" | "OFF"))
    }

    fn named(&self, boot: &str, made: &str) -> Incarnation {
        let [server, host, port] = ["server_id", "hostname", "port"].map(|name| self.settings.get(name));
        Incarnation::new(format!("mysql {boot} server {server} {host}:{port} made {made}"))
    }

    /// Runs a statement that changes something.
    pub(super) async fn exec(&mut self, sql: &str, params: impl Into<Params> + Send) -> Result<Done, Fault> {
        let result = self.conn.exec_iter(sql, params).await?;
        let done = Done { found: result.affected_rows(), id: result.last_insert_id().unwrap_or(0) };
        result.drop_result().await?;
        Ok(done)
    }

    /// Runs a statement that can't be prepared, or will not be needed again.
    pub(super) async fn text(&mut self, sql: &str) -> Result<Done, Fault> {
        let result = self.conn.query_iter(sql).await?;
        let done = Done { found: result.affected_rows(), id: result.last_insert_id().unwrap_or(0) };
        result.drop_result().await?;
        Ok(done)
    }

    /// Every row of a statement.
    pub(super) async fn rows<T>(
        &mut self,
        sql: &str,
        params: impl Into<Params> + Send,
    ) -> Result<Vec<T>, Fault>
    where
        T: FromRow + Send + 'static,
    {
        let rows = self.conn.exec_iter(sql, params).await?.try_collect_and_drop::<T>().await?;
        // A value of another type than ours stands there: only a person can have put it there.
        rows.into_iter().collect::<Result<_, _>>().map_err(|error| Fault::refused(error.to_string()))
    }

    /// The row of a statement, if there is one.
    pub(super) async fn row<T>(
        &mut self,
        sql: &str,
        params: impl Into<Params> + Send,
    ) -> Result<Option<T>, Fault>
    where
        T: FromRow + Send + 'static,
    {
        Ok(self.rows(sql, params).await?.into_iter().next())
    }

    /// The row of a statement that always has one.
    pub(super) async fn only<T>(&mut self, sql: &str, params: impl Into<Params> + Send) -> Result<T, Fault>
    where
        T: FromRow + Send + 'static,
    {
        self.row(sql, params)
            .await?
            .ok_or_else(|| Fault::refused("a row that is made with the tables is gone"))
    }

    /// Whether anybody answers.
    pub(super) async fn ping(&mut self) -> Result<(), Fault> {
        Ok(self.conn.ping().await?)
    }

    /// Says goodbye.
    pub(super) async fn close(self) {
        // One that can't be closed well is gone all the same.
        let _ = self.conn.disconnect().await;
    }

    /// Who speaks here, as learned at the opening.
    pub(super) fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }

    /// The server's settings, as learned at the opening.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }
}

async fn within<T>(
    late: ErrorKind,
    limit: Duration,
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let late = |_| Fault::broken(late, format!("not connected within {limit:?}"));
    timeout(limit, work).await.map_err(late)?
}

async fn connect(options: &MysqlOptions) -> Result<Conn, Fault> {
    // The one provider that is linked in; whoever was first has set it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let encrypted = options.tls != MysqlTls::Off;
    match Conn::new(options.driver(encrypted).await?).await {
        Err(Error::Driver(DriverError::NoClientSslFlagFromServer)) => match options.tls {
            MysqlTls::Preferred { .. } => Ok(Conn::new(options.driver(false).await?).await?),
            _ => Err(Fault::refused("TLS is demanded, and the server does not speak it")),
        },
        other => Ok(other?),
    }
}

/// `under` names another incarnation than the one that speaks; nothing was touched.
pub(super) fn reborn(under: &Incarnation, now: &Incarnation) -> SourceError {
    SourceError::new(ErrorKind::Reborn, format!("expected {under}, found {now}"))
}
