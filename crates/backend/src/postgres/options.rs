//! How a server is reached, and how much of it is used.

use std::{path::PathBuf, sync::Arc, time::Duration};

use sequent_core::{Clock, Entropy, OsEntropy, SystemClock};

use super::schema::SchemaName;

/// How a connection is protected, in PostgreSQL's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TlsMode {
    /// Never.
    Disable,
    /// Where the server can; whoever stands in between can talk it out of that.
    #[default]
    Prefer,
    /// Always; who answers is not checked.
    Require,
    /// Always, and the certificate is one of the authority's.
    VerifyCa,
    /// Always, and the certificate is the host's.
    VerifyFull,
}

/// TLS to a server.
#[derive(Debug, Clone, Default)]
pub struct PostgresTls {
    /// How much is demanded.
    pub mode: TlsMode,
    /// The authority's certificates, PEM; without it those that the system trusts.
    pub ca_file: Option<PathBuf>,
}

/// How a store or ledger on PostgreSQL is opened.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// Whether missing tables, and their schema, may be made: once, and not where this store or ledger has connected
    /// before. What is there is never overwritten.
    pub create: bool,
    /// The schema that holds the tables: one a store, one a ledger. `None`: `sequent_store` or `sequent_ledger`.
    pub schema: Option<SchemaName>,
    /// Connections at once: 1 to [`POOL_MAX`](Self::POOL_MAX).
    pub pool: usize,
    /// How long one may take to be connected and logged in.
    pub connect_limit: Duration,
    /// An idle connection is asked whether it lives if it was not used for this long, before it is used again; and the
    /// server probes the clients of connections that are silent for so long.
    pub keep_alive: Duration,
    /// TLS.
    pub tls: PostgresTls,
    /// The password, read at each connect; it goes before one in the URL.
    pub password_file: Option<PathBuf>,
    /// For identities of new tables and runs, and for the jitter of retries.
    pub entropy: Arc<dyn Entropy>,
    /// For the bound of retries, and the age of idle connections. The clock that is reported is the server's.
    pub clock: Arc<dyn Clock>,
}

impl PostgresOptions {
    /// The most connections that one store or ledger may hold: a default server has a hundred, for everybody.
    pub const POOL_MAX: usize = 64;
}

impl Default for PostgresOptions {
    /// Makes no tables; four connections, 800 ms to connect (below an attempt's limit of 1 s, so that a server which
    /// can't be reached is said to be so), asked after 5 s of idleness.
    fn default() -> Self {
        Self {
            create: false,
            schema: None,
            pool: 4,
            connect_limit: Duration::from_millis(800),
            keep_alive: Duration::from_secs(5),
            tls: PostgresTls::default(),
            password_file: None,
            entropy: Arc::new(OsEntropy),
            clock: Arc::new(SystemClock),
        }
    }
}

/// A random name of 128 bits.
pub(super) fn token(entropy: &dyn Entropy) -> String {
    format!("{:016x}{:016x}", entropy.bits(), entropy.bits())
}
