//! Servers that a command asks instead of the files: named by the caller, or running on the data directory.

use clap::Args;
use sequent_client::{Client, Error, TlsOptions};
use sequent_engine::{Reason, config::Config};

use crate::{
    failure::Failure,
    open_cluster::Cluster,
    run_files::{self, Found, Of},
};

/// The reason if no server answers. The common table has none, since no server can return it.
pub(crate) const SERVER_UNAVAILABLE: &str = "SERVER_UNAVAILABLE";

/// The reason for an answer that can't be understood.
const PROTOCOL: &str = "PROTOCOL";

/// The caller's choice of servers.
#[derive(Debug, Clone, Args)]
pub(crate) struct Where {
    /// Ask these servers: http://a:7420,https://b:7420 [default: those on the data directory, if no
    /// configuration is given]
    #[arg(long, value_name = "URLS", env = "SEQUENT_SERVER", hide_env_values = true)]
    server: Option<String>,
    /// Open the stores in this process, whatever servers there are
    #[arg(long)]
    in_process: bool,
}

/// The servers to ask.
#[derive(Debug, Clone)]
pub(crate) enum Servers {
    /// The servers that the caller named.
    Named(String),
    /// The servers that run on the data directory.
    Found {
        /// Their addresses.
        urls: String,
        /// The identity that they report.
        identity: String,
    },
    /// None: the stores are opened in this process.
    None,
}

impl Where {
    /// The servers to ask. Touches nothing.
    ///
    /// Servers are looked for only if the caller configured nothing. They have their own configuration, and
    /// would ignore another.
    pub(crate) fn pick(&self, cluster: &Cluster) -> Result<Servers, Failure> {
        if self.in_process {
            return Ok(Servers::None);
        }
        if let Some(urls) = self.server.as_ref().filter(|urls| !urls.is_empty()) {
            return Ok(Servers::Named(urls.clone()));
        }
        let config = cluster.config()?;
        if cluster.is_configured() || !config.embedded {
            return Ok(Servers::None);
        }
        Ok(running(&config)
            .map_or(Servers::None, |(urls, identity)| Servers::Found { urls: urls.join(","), identity }))
    }

    /// Adds the servers on the data directory to a failure to open the ledger: they go on without it for a
    /// while.
    pub(crate) fn beside(&self, failure: Failure, cluster: &Cluster) -> Failure {
        if self.in_process {
            return failure;
        }
        let Ok(config) = cluster.config() else { return failure };
        let urls = running(&config).map(|(urls, _)| urls);
        failure.beside_servers(&urls.unwrap_or_default())
    }
}

/// The servers that run on the data directory: their addresses, and the identity that they report.
fn running(config: &Config) -> Option<(Vec<String>, String)> {
    let Found { servers, identity } = run_files::servers(&config.data, &Of::config(config))?;
    Some((servers.iter().map(run_files::Addresses::reach).collect(), identity))
}

impl Servers {
    /// A client of these servers, one of which must answer. `None` if there are none.
    pub(crate) async fn connect(&self, cluster: &Cluster) -> Result<Option<Client>, Failure> {
        let (settings, urls) = match self {
            Self::None => return Ok(None),
            Self::Named(urls) => (cluster.client(), urls),
            Self::Found { urls, identity } => {
                let client = cluster.client().identity(identity);
                // The caller did not choose a server without TLS.
                let is_tls = urls.contains("https://");
                (if is_tls { client } else { client.tls_options(TlsOptions::default()) }, urls)
            }
        };
        Ok(Some(settings.connect(urls).await?))
    }
}

/// The reason of the common table for a failure at a server, and the exit code.
pub(crate) fn reason(error: &Error) -> (&'static str, u8) {
    let known = Reason::ALL.into_iter().find(|reason| reason.as_str() == error.reason());
    match known {
        Some(reason) => (reason.as_str(), reason.exit_code()),
        None if error.is_retryable() => (SERVER_UNAVAILABLE, Reason::NoShardAvailable.exit_code()),
        None => (PROTOCOL, 1),
    }
}
