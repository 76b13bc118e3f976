//! Commands that ask a server instead of the files: a server named by the caller, or one that runs on the data directory.

use clap::Args;
use sequent_client::{Client, Error};
use sequent_engine::Reason;

use crate::{
    failure::Failure,
    open_cluster::Cluster,
    run_files::{self, Found, Of},
};

/// The word for servers of which none answers; the table of reasons has none, since no server can say it.
pub(crate) const SERVER_UNAVAILABLE: &str = "SERVER_UNAVAILABLE";

/// The word for an answer that is none.
const PROTOCOL: &str = "PROTOCOL";

/// What a caller says about servers.
#[derive(Debug, Clone, Args)]
pub(crate) struct Where {
    /// Ask these servers: http://a:7420,http://b:7420 [default: those that run on the data directory, where no configuration is given]
    #[arg(long, value_name = "URLS", env = "SEQUENT_SERVER", hide_env_values = true)]
    server: Option<String>,
    /// Open the stores in this process, whatever servers there are
    #[arg(long)]
    in_process: bool,
}

/// The servers to ask.
#[derive(Debug, Clone)]
pub(crate) enum Servers {
    /// Those that the caller named.
    Named(String),
    /// Those that run on the data directory.
    Found {
        /// Where.
        urls: String,
        /// What they say that they are of.
        identity: String,
    },
    /// None: the stores are opened here.
    None,
}

impl Where {
    /// Which servers to ask. Touches nothing.
    ///
    /// Servers are looked for only where the caller configured nothing: they have their own configuration, and would not
    /// heed another.
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
        Ok(run_files::servers(&config.data, &Of::config(&config)).map_or(
            Servers::None,
            |Found { servers, identity }| {
                let urls: Vec<String> = servers.iter().map(run_files::Addresses::reach).collect();
                Servers::Found { urls: urls.join(","), identity }
            },
        ))
    }
}

impl Where {
    /// A failure to open the ledger here, with the servers that run on the data directory: they go on without it for a while.
    pub(crate) fn beside(&self, failure: Failure, cluster: &Cluster) -> Failure {
        if self.in_process {
            return failure;
        }
        let Ok(config) = cluster.config() else { return failure };
        let found = run_files::servers(&config.data, &Of::config(&config)).map(|found| found.servers);
        let urls: Vec<String> = found.iter().flatten().map(run_files::Addresses::reach).collect();
        failure.beside_servers(&urls)
    }
}

impl Servers {
    /// A client of these, one of which must answer; `None` where there are none.
    pub(crate) async fn connect(&self) -> Result<Option<Client>, Failure> {
        let (settings, urls) = match self {
            Self::None => return Ok(None),
            Self::Named(urls) => (Client::builder(), urls),
            Self::Found { urls, identity } => (Client::builder().identity(identity), urls),
        };
        Ok(Some(settings.connect(urls).await?))
    }
}

/// The word of the table for a failure at a server, and the exit code.
pub(crate) fn reason(error: &Error) -> (&'static str, u8) {
    let known = Reason::ALL.into_iter().find(|reason| reason.as_str() == error.reason());
    match known {
        Some(reason) => (reason.as_str(), reason.exit_code()),
        None if error.is_retryable() => (SERVER_UNAVAILABLE, Reason::NoShardAvailable.exit_code()),
        None => (PROTOCOL, 1),
    }
}
