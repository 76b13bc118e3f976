//! Where a server is, and what the driver is told: address, login, TLS, and the settings of each session.

use std::env;

use sequent_core::ErrorKind;
use sqlx::{
    ConnectOptions,
    postgres::{PgConnectOptions, PgSslMode},
};

use super::{PostgresOptions, PostgresUrl, TlsMode, connect::SESSION, fault::Fault, schema::SchemaName};
use crate::papers;

/// How many of its probes a silent client may leave unanswered.
const KEEP_ALIVE_COUNT: &str = "3";

/// What the driver takes from the environment, and nobody can take back from it: settings of every session, and papers
/// to show. Whatever else it reads there is replaced by what is configured.
const OPTIONS: &str = "PGOPTIONS";
const PAPERS: [&str; 2] = ["PGSSLCERT", "PGSSLKEY"];

/// Where to connect, and as what.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) url: PostgresUrl,
    pub(super) schema: SchemaName,
    pub(super) options: PostgresOptions,
}

impl Target {
    /// What the driver is told. Files are read anew each time, so a password can be changed under a running process.
    pub(super) async fn driver_options(&self) -> Result<PgConnectOptions, Fault> {
        let Self { url, options, .. } = self;
        refuse_environment(options.tls.mode)?;
        let mut driver = PgConnectOptions::new_without_pgpass()
            .host(&url.login.host)
            .port(url.login.port)
            .username(&url.login.user)
            .database(&url.login.database)
            .application_name("sequent")
            .ssl_mode(match options.tls.mode {
                TlsMode::Disable => PgSslMode::Disable,
                TlsMode::Prefer => PgSslMode::Prefer,
                TlsMode::Require => PgSslMode::Require,
                TlsMode::VerifyCa => PgSslMode::VerifyCa,
                TlsMode::VerifyFull => PgSslMode::VerifyFull,
            })
            .disable_statement_logging();
        if url.login.host.starts_with('/') {
            driver = driver.socket(&url.login.host);
        }
        let keep_alive = options.keep_alive.as_secs().max(1).to_string();
        let probes = [
            ("tcp_keepalives_idle", keep_alive.as_str()),
            ("tcp_keepalives_interval", keep_alive.as_str()),
            ("tcp_keepalives_count", KEEP_ALIVE_COUNT),
        ];
        driver = driver.options(SESSION).options(probes);
        // None where none is configured, too: the environment's would count otherwise.
        let authority = match &options.tls.ca_file {
            Some(path) => papers::authority(path).await.map_err(refused)?,
            None => Vec::new(),
        };
        let password = self.password().await?.unwrap_or_default();
        Ok(driver.ssl_root_cert_from_pem(authority).password(&password))
    }

    async fn password(&self) -> Result<Option<String>, Fault> {
        match &self.options.password_file {
            Some(path) => papers::password(path).await.map(Some).map_err(Fault::login),
            None => Ok(self.url.login.password.clone()),
        }
    }
}

/// Refuses an environment that would have its say in where and how a store is reached.
fn refuse_environment(tls: TlsMode) -> Result<(), Fault> {
    let papers = PAPERS.into_iter().filter(|_| tls != TlsMode::Disable);
    let found = std::iter::once(OPTIONS).chain(papers).find(|name| env::var_os(name).is_some());
    let Some(name) = found else { return Ok(()) };
    let cause = format!(
        "{name} is set in the environment, and the driver would obey it: a store is reached as the configuration alone \
         says; start this process without it (`env -u {name} …`)"
    );
    Err(refused(cause))
}

fn refused(cause: String) -> Fault {
    Fault::broken(ErrorKind::Refused, cause)
}
