//! How a server is reached, and how much of it is used: the same for every driver.

use std::{path::PathBuf, time::Duration};

use sequent_core::{Env, ErrorKind, SourceError};

use super::{Fault, SchemaName, ServerUrl, Tls, files};

/// How a store or a ledger on a server is opened.
///
/// ```
/// use sequent_backend::net::ServerOptions;
/// let options = ServerOptions { create: true, ..ServerOptions::from_url("mysql://shop@db1/shard0")? };
/// assert_eq!(options.connections_max, 16);
/// # Ok::<(), sequent_core::SourceError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Where it is, and who asks.
    pub url: ServerUrl,
    /// PostgreSQL's schema that holds the tables; `None`: `sequent_store` or `sequent_ledger`.
    pub schema: Option<SchemaName>,
    /// The file whose first line is the password, read at each connecting. It goes before a password in the URL.
    pub password_file: Option<PathBuf>,
    /// How the connection is protected.
    pub tls: Tls,
    /// The authority's certificates, PEM; `None`: those that the system trusts.
    pub tls_ca_file: Option<PathBuf>,
    /// Our own certificate, where the server asks for one: etcd alone.
    pub tls_cert_file: Option<PathBuf>,
    /// Its private key.
    pub tls_key_file: Option<PathBuf>,
    /// The most connections at once.
    pub connections_max: usize,
    /// How long connecting and login may take.
    pub connect_timeout: Duration,
    /// How long a connection may be silent before it is probed.
    pub keep_alive: Duration,
    /// Whether what is missing (tables, collections) may be made: once, and not where this store or ledger has connected before. What is
    /// there is never overwritten.
    pub create: bool,
    /// Where time is read, and what is random. The clock that a store reports is the server's.
    pub env: Env,
}

impl PartialEq for ServerOptions {
    /// Whether both lead to the same server in the same way, whoever asks.
    fn eq(&self, other: &Self) -> bool {
        let parts = |options: &Self| {
            let Self { url, schema, password_file, tls, create, .. } = options.clone();
            let files =
                [options.tls_ca_file.clone(), options.tls_cert_file.clone(), options.tls_key_file.clone()];
            let limits = (options.connections_max, options.connect_timeout, options.keep_alive);
            (url, schema, password_file, tls, create, files, limits)
        };
        parts(self) == parts(other)
    }
}

impl Eq for ServerOptions {}

/// How long connecting may take where nobody says: below an attempt's limit of 1 s, so that a server which can't be reached is said to
/// be so.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(800);

impl ServerOptions {
    /// What a URL says; the rest as the driver has it where nobody says: nothing is made, 800 ms to connect.
    pub fn new(url: ServerUrl) -> Self {
        let driver = url.driver();
        let first = driver.tls.first().map_or(Tls::Off, |(_, tls)| *tls);
        Self {
            url,
            schema: None,
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

    /// The same of the text of a URL.
    ///
    /// # Errors
    ///
    /// `Refused`, naming what is wrong, and never the text.
    pub fn from_url(text: &str) -> Result<Self, SourceError> {
        let url = text
            .parse()
            .map_err(|error: super::UrlError| SourceError::new(ErrorKind::Refused, error.to_string()))?;
        Ok(Self::new(url))
    }

    /// As many connections as are allowed at most, and at least one.
    pub(crate) fn connections(&self) -> usize {
        let most = usize::try_from(*self.url.driver().connections_max.end()).unwrap_or(usize::MAX);
        self.connections_max.clamp(1, most)
    }

    /// The password as it is now, if there is one.
    pub(crate) async fn password(&self) -> Result<Option<String>, Fault> {
        match &self.password_file {
            Some(path) => files::password(path).await.map(Some).map_err(Fault::login),
            None => Ok(self.url.password().map(str::to_owned)),
        }
    }

    /// The authority's certificates as they are now, if there are any of one's own.
    pub(crate) async fn authority(&self) -> Result<Option<Vec<u8>>, Fault> {
        match &self.tls_ca_file {
            Some(path) => files::authority(path).await.map(Some).map_err(Fault::refused),
            None => Ok(None),
        }
    }
}

/// A random name of 128 bits.
pub(crate) fn token(env: &Env) -> String {
    format!("{:016x}{:016x}", env.entropy.bits(), env.entropy.bits())
}
