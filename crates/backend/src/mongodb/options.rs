//! How a server is reached, and how much of it is used.

use std::{path::PathBuf, sync::Arc, time::Duration};

use sequent_core::{Clock, Entropy, OsEntropy, SystemClock};

/// Whether the line to the server is encrypted. There is nothing in between: the protocol has no way to ask a server
/// whether it can.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MongodbTls {
    /// It is not.
    #[default]
    Off,
    /// It is; who answers is not checked.
    Unchecked,
    /// It is, and the certificate is the host's and of an authority that is trusted.
    Verified {
        /// The authority's certificates, PEM; `None`: the public authorities.
        ca_file: Option<PathBuf>,
    },
}

/// How a store on MongoDB is opened.
#[derive(Debug, Clone)]
pub struct MongodbOptions {
    /// Whether missing collections may be made: once, and not where this store has connected before.
    pub create: bool,
    /// Connections at once that carry verbs: 1 to [`POOL_MAX`](Self::POOL_MAX). The driver watches each by another one.
    pub pool: usize,
    /// How long one may take to be connected and logged in, and known.
    pub connect_limit: Duration,
    /// An idle connection is asked whether it lives if it was not used for this long, before it is used again; and as
    /// often the driver asks the server how it is, though never more often than twice a second.
    pub keep_alive: Duration,
    /// TLS.
    pub tls: MongodbTls,
    /// The password, read at each connect; it goes before one in the URL.
    pub password_file: Option<PathBuf>,
    /// For the jitter of retries.
    pub entropy: Arc<dyn Entropy>,
    /// For the age of idle connections. The clock that is reported is the server's.
    pub clock: Arc<dyn Clock>,
}

impl MongodbOptions {
    /// The most connections that one store may use.
    pub const POOL_MAX: usize = 64;
}

impl Default for MongodbOptions {
    /// Makes no collections; four connections, 800 ms to connect (below an attempt's limit of 1 s, so that a server which
    /// can't be reached is said to be so), asked after 5 s of idleness, no TLS.
    fn default() -> Self {
        Self {
            create: false,
            pool: 4,
            connect_limit: Duration::from_millis(800),
            keep_alive: Duration::from_secs(5),
            tls: MongodbTls::Off,
            password_file: None,
            entropy: Arc::new(OsEntropy),
            clock: Arc::new(SystemClock),
        }
    }
}
