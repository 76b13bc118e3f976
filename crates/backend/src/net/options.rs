//! Server connection options, common to all drivers.

use std::{path::PathBuf, time::Duration};

use sequent_core::{Env, SourceError};

use super::{CodeTables, Fault, SchemaName, ServerUrl, SettingError, SlotTables, Tls, files, refused};

/// Options of a store or ledger on a server.
///
/// ```
/// use sequent_backend::net::ServerOptions;
/// let options = ServerOptions { create: true, ..ServerOptions::from_url("mysql://shop@db1/shard0")? };
/// assert_eq!(options.connections_max, 16);
/// # Ok::<(), sequent_core::SourceError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The server's URL, with the user.
    pub url: ServerUrl,
    /// The PostgreSQL schema of the tables; `None`: `sequent_store` or `sequent_ledger`.
    pub schema: Option<SchemaName>,
    /// The tables of `mysql-auto-increment`; other kinds have none.
    pub code_tables: CodeTables,
    /// The tables of the ring's slots, with which those that are adopted are compared; `None`: they are not compared.
    pub slot_tables: Option<SlotTables>,
    /// A file whose first line is the password, read at each connect. It takes precedence over a password in the URL.
    pub password_file: Option<PathBuf>,
    /// The TLS mode.
    pub tls: Tls,
    /// The authority's certificates, PEM; `None`: the system's trusted certificates.
    pub tls_ca_file: Option<PathBuf>,
    /// The client certificate, for servers that ask for one (only etcd).
    pub tls_cert_file: Option<PathBuf>,
    /// The private key of the client certificate.
    pub tls_key_file: Option<PathBuf>,
    /// The maximum number of open connections.
    pub connections_max: usize,
    /// Time limit of connect and login together.
    pub connect_timeout: Duration,
    /// Silence after which a connection is probed.
    pub keep_alive: Duration,
    /// Whether missing tables or collections may be created. They are created only until this store or ledger has
    /// connected once. Existing ones are never overwritten.
    pub create: bool,
    /// The clock and the source of randomness. A store reports the server's clock instead.
    pub env: Env,
}

impl PartialEq for ServerOptions {
    /// Whether both reach the same server in the same way; `env` and the other slots are ignored.
    fn eq(&self, other: &Self) -> bool {
        let parts = |options: &Self| {
            let Self { url, schema, code_tables, password_file, tls, create, .. } = options.clone();
            let files =
                [options.tls_ca_file.clone(), options.tls_cert_file.clone(), options.tls_key_file.clone()];
            let limits = (options.connections_max, options.connect_timeout, options.keep_alive);
            (url, schema, code_tables, password_file, tls, create, files, limits)
        };
        parts(self) == parts(other)
    }
}

impl Eq for ServerOptions {}

/// Default time limit of a connect. It is below the 1 s limit of an attempt, so that an unreachable server is reported
/// as such.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(800);

impl ServerOptions {
    /// The options of a URL. All others have the driver's defaults: nothing is created, 800 ms to connect.
    pub fn new(url: ServerUrl) -> Self {
        let driver = url.driver();
        let first = driver.tls.first().map_or(Tls::Off, |(_, tls)| *tls);
        Self {
            url,
            schema: None,
            code_tables: CodeTables::default(),
            slot_tables: None,
            password_file: None,
            tls: first,
            tls_ca_file: None,
            tls_cert_file: None,
            tls_key_file: None,
            connections_max: usize::try_from(driver.connections_default).unwrap_or(1),
            connect_timeout: CONNECT_TIMEOUT,
            keep_alive: Duration::from_secs(driver.keep_alive_default_s.unwrap_or(15)),
            create: false,
            env: Env::default(),
        }
    }

    /// The options of a URL in text form.
    ///
    /// # Errors
    ///
    /// `Refused` with what is wrong. The message never contains the text, which may have a password.
    pub fn from_url(text: &str) -> Result<Self, SourceError> {
        let wrong = |error: SettingError| refused(format!("url: {error}"));
        Ok(Self::new(text.parse().map_err(wrong)?))
    }

    /// The pool size: at least one, and at most what the driver allows.
    pub(crate) fn connections(&self) -> usize {
        let most = usize::try_from(*self.url.driver().connections_max.end()).unwrap_or(usize::MAX);
        self.connections_max.clamp(1, most)
    }

    /// The current password, if there is one.
    pub(crate) async fn password(&self) -> Result<Option<String>, Fault> {
        match &self.password_file {
            Some(path) => files::password(path).await.map(Some).map_err(Fault::login),
            None => Ok(self.url.password().map(str::to_owned)),
        }
    }

    /// The current certificates of the authority, if a file is configured.
    pub(crate) async fn authority(&self) -> Result<Option<Vec<u8>>, Fault> {
        match &self.tls_ca_file {
            Some(path) => files::pem("tls_ca_file", path).await.map(Some).map_err(Fault::refused),
            None => Ok(None),
        }
    }
}

/// A random token of 128 bits.
pub(crate) fn token(env: &Env) -> String {
    format!("{:016x}{:016x}", env.entropy.bits(), env.entropy.bits())
}
