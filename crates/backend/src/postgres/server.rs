//! PostgreSQL server address, login, TLS and session settings.

use std::{env, time::Duration};

use sqlx::{
    ConnectOptions, PgConnection,
    postgres::{PgConnectOptions, PgSslMode},
};

use super::{connection::Connection, fault::from_driver, schema::Tables, session::SETTINGS};
use crate::net::{Fault, Purpose, SchemaName, Server, ServerOptions, Tls, within};

/// The number of unanswered probes after which a connection is closed.
const KEEP_ALIVE_COUNT: &str = "3";

/// Environment variables that the driver applies irrevocably: settings of every session, and client certificates. The
/// configuration replaces all other variables that it reads.
const OPTIONS: &str = "PGOPTIONS";
const CERTIFICATES: [&str; 2] = ["PGSSLCERT", "PGSSLKEY"];

/// A schema of a database, and the tables in it.
#[derive(Debug)]
pub struct PostgresServer {
    pub(super) options: ServerOptions,
    pub(super) tables: &'static Tables,
}

/// Connects to tables of another program, which are not written.
pub(crate) async fn connect_to_read(options: &ServerOptions) -> Result<PgConnection, Fault> {
    // Rows that a policy hides are an error, and not left out: a maximum without them would be too low.
    let settings = [("default_transaction_read_only", "on"), ("row_security", "off")];
    let driver = driver_options(options).await?.options(settings);
    within(options.connect_timeout, driver.connect()).await?.map_err(from_driver)
}

impl PostgresServer {
    /// The schema of the tables.
    pub(super) fn schema(&self) -> &str {
        self.options.schema.as_ref().map_or(self.tables.schema, SchemaName::as_str)
    }
}

/// The driver's options. Files are read anew each time, so an operator can change a password under a running
/// process.
pub(super) async fn driver_options(options: &ServerOptions) -> Result<PgConnectOptions, Fault> {
    let url = &options.url;
    refuse_environment(options.tls)?;
    let mut driver = PgConnectOptions::new_without_pgpass()
        .host(url.host())
        .port(url.port())
        .username(url.user().unwrap_or_default())
        .database(url.path())
        .application_name("sequent")
        .ssl_mode(match options.tls {
            Tls::Off => PgSslMode::Disable,
            Tls::Prefer => PgSslMode::Prefer,
            Tls::Require => PgSslMode::Require,
            Tls::Verify => PgSslMode::VerifyFull,
        })
        .disable_statement_logging();
    if url.host().starts_with('/') {
        driver = driver.socket(url.host());
    }
    let keep_alive = options.keep_alive.as_secs().max(1).to_string();
    let probes = [
        ("tcp_keepalives_idle", keep_alive.as_str()),
        ("tcp_keepalives_interval", keep_alive.as_str()),
        ("tcp_keepalives_count", KEEP_ALIVE_COUNT),
    ];
    // Certificates and password are set even if none are configured. Otherwise those of the environment would
    // apply.
    let authority = options.authority().await?.unwrap_or_default();
    let password = options.password().await?.unwrap_or_default();
    let driver = driver.options(SETTINGS).options(probes);
    Ok(driver.ssl_root_cert_from_pem(authority).password(&password))
}

impl Server for PostgresServer {
    type Connection = Connection;

    async fn connect(&self, purpose: Purpose) -> Result<Connection, Fault> {
        Connection::open(self, purpose).await
    }

    fn shown(&self) -> String {
        format!("{} {} {}", self.tables.kind, self.options.url, self.schema())
    }

    /// Only the login has a limit, because the creation of tables may take longer.
    fn connect_timeout(&self) -> Option<Duration> {
        None
    }

    fn options(&self) -> &ServerOptions {
        &self.options
    }
}

/// Fails if the environment has variables that would change where and how a store is reached.
fn refuse_environment(tls: Tls) -> Result<(), Fault> {
    let certificates = CERTIFICATES.into_iter().filter(|_| tls != Tls::Off);
    let found = std::iter::once(OPTIONS).chain(certificates).find(|name| env::var_os(name).is_some());
    let Some(name) = found else { return Ok(()) };
    Err(Fault::refused(format!(
        "{name} is set in the environment, and the driver would obey it: a store is reached as the configuration alone \
         says; start this process without it (`env -u {name} …`)"
    )))
}
