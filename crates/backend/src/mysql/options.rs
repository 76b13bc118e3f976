//! How a server is reached: address, login, TLS, and how many connections. What is secret is never printed.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use mysql_async::{Opts, OptsBuilder, SslOpts, UrlError};
use sequent_core::{Clock, Entropy, ErrorKind, OsEntropy, SourceError, SystemClock};

use super::fault::Fault;
use crate::papers;

/// The most connections that one store or ledger may be given.
pub const CONNECTIONS_MAX: usize = 256;

/// How a MySQL or MariaDB server is reached.
///
/// ```
/// use sequent_backend::mysql::MysqlOptions;
/// let options = MysqlOptions::from_url("mysql://shop:s3cret@db1:3307/shard0")?;
/// assert_eq!(options.address(), "mysql://shop@db1:3307/shard0");
/// assert!(!format!("{options:?}").contains("s3cret"));
/// # Ok::<(), sequent_core::SourceError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MysqlOptions {
    /// The server's host name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// As whom.
    pub user: String,
    /// The database, which holds nothing else.
    pub database: String,
    /// How the user proves who it is.
    pub password: MysqlPassword,
    /// Whether missing tables may be made: once, and not where this store or ledger has connected before.
    pub create: bool,
    /// The most connections, at least 1 and at most [`CONNECTIONS_MAX`]; others wait their turn.
    pub connections_max: usize,
    /// How long connecting and login may take, and as long again the first look at the server.
    pub connect_limit: Duration,
    /// After how long an idle connection is probed by the system; `None`: never.
    pub keep_alive: Option<Duration>,
    /// Whether the line is encrypted.
    pub tls: MysqlTls,
    /// For the identity of a server's run, and for the jitter of retries.
    pub entropy: Arc<dyn Entropy>,
    /// For the age of idle connections.
    pub clock: Arc<dyn Clock>,
}

/// How a user proves who it is.
#[derive(Clone)]
pub enum MysqlPassword {
    /// By nothing.
    None,
    /// By this.
    Text(String),
    /// By the first line of this file, read anew for each connection.
    File(PathBuf),
}

impl fmt::Debug for MysqlPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Text(_) => f.write_str("Text(…)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

/// Whether the line to the server is encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MysqlTls {
    /// It is not.
    Off,
    /// Where the server can; a server that can't is talked to in the clear.
    Preferred {
        /// Whom to trust; `None`: the public authorities.
        ca_file: Option<PathBuf>,
    },
    /// Always; a server that can't is refused.
    Required {
        /// Whom to trust; `None`: the public authorities.
        ca_file: Option<PathBuf>,
    },
}

impl MysqlTls {
    fn ca_file(&self) -> Option<&PathBuf> {
        match self {
            Self::Off => None,
            Self::Preferred { ca_file } | Self::Required { ca_file } => ca_file.as_ref(),
        }
    }
}

impl MysqlOptions {
    /// The server, user and database of `mysql://user:password@host:port/database`; the rest as by default: nothing is
    /// made, 16 connections, 800 ms to connect, keep-alive after 15 s, no TLS.
    pub fn from_url(url: &str) -> Result<Self, SourceError> {
        // The text of a URL is not repeated: it may hold a password.
        let refused = |cause: &str| {
            SourceError::new(
                ErrorKind::Refused,
                format!("url of a MySQL server: {cause}, expected mysql://user:password@host:3306/database"),
            )
        };
        if url.contains('?') {
            return Err(refused("found `?…`, though settings stand beside the url"));
        }
        let opts = Opts::from_url(url).map_err(|error| match error {
            UrlError::UnsupportedScheme { scheme } => refused(&format!("found scheme {scheme:?}")),
            _ => refused("it can't be read"),
        })?;
        let database =
            opts.db_name().filter(|name| !name.is_empty()).ok_or_else(|| refused("no database is named"))?;
        let user = opts.user().filter(|name| !name.is_empty()).ok_or_else(|| refused("no user is named"))?;
        Ok(Self {
            host: opts.ip_or_hostname().trim_matches(['[', ']']).to_owned(),
            port: opts.tcp_port(),
            user: user.to_owned(),
            database: database.to_owned(),
            password: opts.pass().map_or(MysqlPassword::None, |text| MysqlPassword::Text(text.to_owned())),
            create: false,
            connections_max: 16,
            connect_limit: Duration::from_millis(800),
            keep_alive: Some(Duration::from_secs(15)),
            tls: MysqlTls::Off,
            entropy: Arc::new(OsEntropy),
            clock: Arc::new(SystemClock),
        })
    }

    /// Where the server is and who asks, without what is secret.
    pub fn address(&self) -> String {
        let Self { host, port, user, database, .. } = self;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        format!("mysql://{user}@{host}:{port}/{database}")
    }

    /// What the driver needs, with or without TLS.
    pub(super) async fn driver(&self, encrypted: bool) -> Result<Opts, Fault> {
        let password = match &self.password {
            MysqlPassword::None => None,
            MysqlPassword::Text(text) => Some(text.clone()),
            MysqlPassword::File(path) => Some(papers::password(path).await.map_err(Fault::login)?),
        };
        let own = match self.tls.ca_file() {
            Some(path) if encrypted => Some(papers::authority(path).await.map_err(Fault::refused)?.into()),
            _ => None,
        };
        let ssl = encrypted.then(|| {
            SslOpts::default()
                .with_disable_built_in_roots(own.is_some())
                .with_root_certs(own.into_iter().collect())
        });
        let builder = OptsBuilder::default()
            .ip_or_hostname(self.host.clone())
            .tcp_port(self.port)
            .user(Some(self.user.clone()))
            .pass(password)
            .db_name(Some(self.database.clone()))
            .tcp_keepalive(self.keep_alive)
            .tcp_nodelay(true)
            // Then 1 row is done and 0 is refused, also where a statement changes nothing.
            .client_found_rows(true)
            // What the driver would otherwise ask the server for at each connecting.
            .prefer_socket(false)
            .max_allowed_packet(Some(PACKET_MAX))
            .wait_timeout(Some(0))
            .stmt_cache_size(STATEMENTS_KEPT)
            .ssl_opts(ssl);
        Ok(builder.into())
    }
}

/// Prepared statements that a connection keeps: one for each table of the keys that are asked again and again, and the others.
const STATEMENTS_KEPT: usize = 96;

/// The longest packet that is sent; the server may take less, and says so.
const PACKET_MAX: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let options = MysqlOptions::from_url("mysql://u:hunter2@h/d").unwrap();
        let file = MysqlOptions { password: MysqlPassword::File("pw".into()), ..options.clone() };
        assert!(!format!("{options:?} {file:?} {}", options.address()).contains("hunter2"));
        assert_eq!(options.address(), "mysql://u@h:3306/d");
        for bad in [
            "mysql://u:hunter2@h",
            "mysql://:hunter2@h/d",
            "mysql://u:hunter2@h/d?require_ssl=true",
            "http://u:hunter2@h/d",
            "mysql://u:hunter2@h:port/d",
            "hunter2",
        ] {
            let said = MysqlOptions::from_url(bad).unwrap_err();
            assert!(!format!("{said} {said:?}").contains("hunter2"), "{said}");
        }
    }

    #[test]
    fn an_ipv6_address_stands_in_brackets() {
        assert_eq!(MysqlOptions::from_url("mysql://u@[::1]:7/d").unwrap().address(), "mysql://u@[::1]:7/d");
    }
}
