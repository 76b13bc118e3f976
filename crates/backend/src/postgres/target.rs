//! Where a server is, and what the driver is told: address, login, TLS, and the settings of each session.

use std::{io::Read, path::Path};

use sequent_core::ErrorKind;
use sqlx::{
    ConnectOptions,
    postgres::{PgConnectOptions, PgSslMode},
};

use super::{PostgresOptions, PostgresUrl, TlsMode, connect::SESSION, fault::Fault, schema::SchemaName};

/// How many bytes a password file may have.
const PASSWORD_BYTES_MAX: u64 = 4096;

/// How many bytes of certificates an authority's file may have.
const CA_BYTES_MAX: u64 = 1 << 20;

/// How many of its probes a silent client may leave unanswered.
const KEEP_ALIVE_COUNT: &str = "3";

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
