//! One session: connected, logged in, and with the settings that everything else rests on.

use std::{io::Read, path::Path};

use sequent_core::ErrorKind;
use sqlx::{
    ConnectOptions, PgConnection, Postgres,
    postgres::{PgArguments, PgConnectOptions, PgRow, PgSslMode},
    query::{Query, QueryAs},
    query_as,
};

use super::{
    PostgresOptions, PostgresUrl, TlsMode,
    fault::{Fault, PROXY},
    schema::SchemaName,
};

/// How many bytes a password file may have.
const PASSWORD_BYTES_MAX: u64 = 4096;

/// How many bytes of certificates an authority's file may have.
const CA_BYTES_MAX: u64 = 1 << 20;

/// What every session sets, and what the server must then say that it is. Sent as it is opened: a proxy that shares out
/// connections refuses such parameters, or drops them, which shows.
///
/// - READ COMMITTED: the statements were raced under it.
/// - A lock is waited for as long as `patience` lasts, which is less than an attempt's limit; and what nobody waits for
///   any more, a statement or a transaction of a process that hangs, ends by itself, and with it its locks.
const SESSION: [(&str, &str); 5] = [
    ("default_transaction_isolation", "read committed"),
    ("synchronous_commit", "on"),
    ("lock_timeout", "700ms"),
    ("statement_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "10s"),
];

/// How often the server looks, during a statement, whether its client is still there. From PostgreSQL 14.
const CLIENT_CHECK: &str = "SET client_connection_check_interval = '1s'";

/// How many of its probes a silent client may leave unanswered.
const KEEP_ALIVE_COUNT: &str = "3";

/// Where to connect, and as what.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) url: PostgresUrl,
    pub(super) schema: SchemaName,
    pub(super) options: PostgresOptions,
}

/// A connection. Whatever is given up is closed by being dropped.
#[derive(Debug)]
pub(super) struct Session {
    connection: PgConnection,
    /// The server's process behind it.
    pid: i32,
}

impl Session {
    /// Connects and logs in within the limit. A standby, and a proxy that shares out connections, is refused.
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
        let sql = "SELECT pg_backend_pid(), pg_is_in_recovery(), set_config('search_path', $1, false)";
        let search = query_as(sql).bind(target.schema.quoted());
        let (pid, standby, _): (i32, bool, String) = session.only(search).await?;
        session.pid = pid;
        if standby {
            let cause = "the server is in recovery: a standby counts nothing; connect to its primary";
            return Err(Fault::broken(ErrorKind::Refused, cause));
        }
        session.check_settings().await?;
        Ok(session)
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

impl Target {
    async fn driver_options(&self) -> Result<PgConnectOptions, Fault> {
        let Self { url, options, .. } = self;
        let mut driver = PgConnectOptions::new_without_pgpass()
            .host(&url.host)
            .port(url.port)
            .username(&url.user)
            .database(&url.database)
            .application_name("sequent")
            .ssl_mode(match options.tls.mode {
                TlsMode::Disable => PgSslMode::Disable,
                TlsMode::Prefer => PgSslMode::Prefer,
                TlsMode::Require => PgSslMode::Require,
                TlsMode::VerifyCa => PgSslMode::VerifyCa,
                TlsMode::VerifyFull => PgSslMode::VerifyFull,
            })
            .disable_statement_logging();
        if url.host.starts_with('/') {
            driver = driver.socket(&url.host);
        }
        let keep_alive = options.keep_alive.as_secs().max(1).to_string();
        let probes = [
            ("tcp_keepalives_idle", keep_alive.as_str()),
            ("tcp_keepalives_interval", keep_alive.as_str()),
            ("tcp_keepalives_count", KEEP_ALIVE_COUNT),
        ];
        driver = driver.options(SESSION).options(probes);
        if let Some(path) = &options.tls.ca_file {
            driver = driver.ssl_root_cert_from_pem(read("ca_file", path, CA_BYTES_MAX).await?);
        }
        if let Some(password) = self.password().await? {
            driver = driver.password(&password);
        }
        Ok(driver)
    }

    async fn password(&self) -> Result<Option<String>, Fault> {
        let Some(path) = &self.options.password_file else { return Ok(self.url.password.clone()) };
        let bytes = read("password_file", path, PASSWORD_BYTES_MAX).await?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Fault::broken(ErrorKind::Refused, format!("password_file {}: not text", path.display()))
        })?;
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }
}

/// A small file, whole.
async fn read(what: &str, path: &Path, most: u64) -> Result<Vec<u8>, Fault> {
    let fault = |cause: &dyn std::fmt::Display| {
        Fault::broken(ErrorKind::Refused, format!("{what} {}: {cause}", path.display()))
    };
    let owned = path.to_owned();
    let load = move || {
        let mut bytes = Vec::new();
        std::fs::File::open(owned)?.take(most + 1).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    let bytes = tokio::task::spawn_blocking(load).await.map_err(|error| fault(&error))?;
    let bytes = bytes.map_err(|error| fault(&error))?;
    if bytes.len() as u64 > most {
        return Err(fault(&format!("longer than {most} bytes")));
    }
    Ok(bytes)
}
