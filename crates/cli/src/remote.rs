//! Servers in place of files: named by the caller, or found at work on the data directory.

use std::time::Duration;

use clap::Args;
use sequent_client::{Client, ClientBuilder, Error};
use sequent_engine::Reason;

use crate::{cluster::Cluster, failure::Failure, presence};

/// The word for servers of which none answers; the table of reasons has none, since no server can say it.
pub(crate) const SERVER_UNAVAILABLE: &str = "SERVER_UNAVAILABLE";

/// The word for an answer that is none.
const PROTOCOL: &str = "PROTOCOL";

/// What a caller says about servers.
#[derive(Debug, Clone, Args)]
pub(crate) struct Where {
    /// Ask these servers: http://a:7420,http://b:7420 [default: those that run on the data directory]
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
    Found(String),
    /// None: the stores are opened here.
    None,
}

impl Where {
    /// Which servers to ask. Touches nothing.
    pub(crate) fn pick(&self, cluster: &Cluster) -> Result<Servers, Failure> {
        if self.in_process {
            return Ok(Servers::None);
        }
        if let Some(urls) = self.server.as_ref().filter(|urls| !urls.is_empty()) {
            return Ok(Servers::Named(urls.clone()));
        }
        let config = cluster.config()?;
        let found = if config.embedded { presence::servers(&config.data) } else { Vec::new() };
        let urls: Vec<String> = found.iter().map(presence::Addresses::reach).collect();
        Ok(if urls.is_empty() { Servers::None } else { Servers::Found(urls.join(",")) })
    }
}

/// A client of these servers, one of which must answer.
pub(crate) async fn connect(urls: &str, deadline: Option<Duration>) -> Result<Client, Failure> {
    let settings = deadline.into_iter().fold(Client::builder(), ClientBuilder::deadline);
    Ok(settings.connect(urls).await?)
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
