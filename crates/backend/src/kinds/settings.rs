//! What a kind is opened by.
#![cfg_attr(
    not(all(
        feature = "etcd",
        feature = "memcached",
        feature = "mongodb",
        feature = "mysql",
        feature = "postgres",
        feature = "redis",
        feature = "sqlite"
    )),
    allow(dead_code, reason = "which are used depends on what is built in")
)]

use std::{path::Path, path::PathBuf, time::Duration};

use sequent_core::{Env, ErrorKind, SequenceName, SlotIndex, SourceError};

/// How a connection to a server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsWord {
    /// Not at all.
    Off,
    /// Where the server can.
    Prefer,
    /// Always; whoever answers is not checked.
    Require,
    /// Always, and the server's certificate is its own and of an authority that is trusted.
    Verify,
}

/// A server, and how it is reached.
#[derive(Clone)]
pub struct ServerSettings {
    /// Where it is, and who asks; it may hold a password.
    pub url: String,
    /// PostgreSQL's schema that holds the tables.
    pub schema: Option<String>,
    /// The file that holds the password, read at each connecting.
    pub password_file: Option<PathBuf>,
    /// How the connection is protected.
    pub tls: TlsWord,
    /// The authority's certificates; `None`: those that everybody trusts.
    pub tls_ca_file: Option<PathBuf>,
    /// Our own certificate, where the server asks for one.
    pub tls_cert_file: Option<PathBuf>,
    /// Its private key.
    pub tls_key_file: Option<PathBuf>,
    /// The most connections at once.
    pub connections_max: usize,
    /// How long connecting and login may take.
    pub connect_timeout: Duration,
    /// How long a connection may be silent before it is probed.
    pub keep_alive: Duration,
}

/// Where something is opened.
#[derive(Clone, Copy)]
pub enum Where<'a> {
    /// In this process's memory.
    Memory,
    /// In a file.
    File(&'a Path),
    /// On a server.
    Server(&'a ServerSettings),
}

/// Where something is opened, and for whom.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Where.
    pub place: Where<'a>,
    /// The cluster and the slot whose store it is; `None` of a ledger.
    pub owner: Option<(&'a SequenceName, SlotIndex)>,
    /// Whether what is missing is made.
    pub create: bool,
    /// Where time is read, and what is random.
    pub env: &'a Env,
}

impl<'a> Site<'a> {
    /// The server's settings.
    pub(crate) fn server(&self) -> Result<&'a ServerSettings, SourceError> {
        match self.place {
            Where::Server(settings) => Ok(settings),
            _ => Err(refused("a server's settings are expected")),
        }
    }

    /// The file's path.
    pub(crate) fn path(&self) -> Result<&'a Path, SourceError> {
        match self.place {
            Where::File(path) => Ok(path),
            _ => Err(refused("a file's path is expected")),
        }
    }

    /// The cluster and the slot.
    pub(crate) fn owner(&self) -> Result<(&'a SequenceName, SlotIndex), SourceError> {
        self.owner.ok_or_else(|| refused("a store belongs to a slot of a cluster"))
    }
}

/// What a URL says, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// What may be printed.
    pub address: String,
    /// The same for every URL of the same tables, as far as one can tell from the text.
    pub identity: String,
    /// Whether it holds a password.
    pub has_password: bool,
}

/// What is wrong with a URL, or with a schema's name: never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongUrl {
    /// The setting at fault.
    pub setting: &'static str,
    /// What is wrong with it.
    pub cause: String,
}

impl WrongUrl {
    /// The URL is at fault.
    pub(crate) fn of(error: &SourceError) -> Self {
        Self { setting: "url", cause: error.context().to_owned() }
    }
}

/// One machine's names for itself are one; what else leads to one server is seen by the identity that its tables bear.
pub(crate) fn identity(scheme: &str, host: &str, port: u16, database: &str) -> String {
    let lower = host.to_ascii_lowercase();
    let host = lower.trim_end_matches('.');
    let loops = host.parse::<std::net::IpAddr>().map_or(host == "localhost", |address| address.is_loopback());
    format!("{scheme} {}:{port}/{database}", if loops { "localhost" } else { host })
}

pub(super) fn refused(context: impl Into<String>) -> SourceError {
    SourceError::new(ErrorKind::Refused, context.into())
}
