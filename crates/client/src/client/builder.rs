//! A client's settings.

use std::time::Duration;

use crate::{
    client::{Client, address, options::Options},
    error::{Error, SERVER_UNAVAILABLE},
};

/// The variable that names the servers.
const SERVERS: &str = "SEQUENT_SERVER";

/// Settings of a [`Client`]; each has a default that suits most services. One that could never work is refused when the
/// client is made, by its name, its value and its bounds.
///
/// ```no_run
/// # async fn run() -> Result<(), sequent_client::Error> {
/// use std::time::Duration;
/// use sequent_client::Client;
/// let client = Client::builder().deadline(Duration::from_millis(300)).connect("http://a:7420,http://b:7420").await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "nothing is connected yet"]
pub struct ClientBuilder {
    options: Options,
}

impl ClientBuilder {
    /// How long a take may wait, where its handle says nothing else: 1 ms or more. Default: 1.5 s.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.options.deadline = deadline;
        self
    }

    /// How old a leased number may be when it is handed out, where the server does not ask for less: 100 ms to 24 h.
    /// Default: 10 s.
    pub fn lease_max_age(mut self, age: Duration) -> Self {
        self.options.lease_age_max = age;
        self
    }

    /// For how long ahead of demand numbers are leased; at most a quarter of their age. Default: 2 s.
    pub fn reserve(mut self, ahead: Duration) -> Self {
        self.options.reserve = ahead;
        self
    }

    /// The most leased numbers of a sequence that may be held, and be burnt with the process. Default: 100,000.
    pub fn at_risk_max(mut self, count: u64) -> Self {
        self.options.at_risk_max = count;
        self
    }

    /// How long a connection may take to come about: 1 ms to 1 h. Default: 500 ms.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.options.connect_timeout = timeout;
        self
    }

    /// Only servers that say they are of this cluster are believed; whoever else answers at an address counts as down.
    pub fn identity(mut self, identity: &str) -> Self {
        self.options.identity = Some(identity.into());
        self
    }

    /// How long one endpoint is waited for: 1 ms to 1 h. Default: 1 s. After [`slow_after`](Self::slow_after) another is
    /// asked besides.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.options.health.attempt_timeout = timeout;
        self
    }

    /// An answer that takes longer counts against its endpoint; three within a minute put it out. Default: 200 ms.
    pub fn slow_after(mut self, after: Duration) -> Self {
        self.options.health.slow_after = after;
        self
    }

    /// Connects; see [`Client::connect`].
    pub async fn connect(self, servers: &str) -> Result<Client, Error> {
        let client = self.connect_lazily(servers)?;
        client.wait_until_serving().await?;
        Ok(client)
    }

    /// [`connect`](Self::connect) to the addresses in `SEQUENT_SERVER`.
    pub async fn connect_from_env(self) -> Result<Client, Error> {
        let servers = std::env::var(SERVERS).unwrap_or_default();
        if servers.is_empty() {
            let bound = "the addresses of the servers are expected, as in http://a:7420,http://b:7420";
            return Err(Error::field(SERVERS, "not set", bound));
        }
        self.connect(&servers).await
    }

    /// A client that connects when a number is wanted: for a service that must start without its servers.
    ///
    /// Under a tokio runtime, on which its background work will run.
    pub fn connect_lazily(self, servers: &str) -> Result<Client, Error> {
        if tokio::runtime::Handle::try_current().is_err() {
            let text = "no tokio runtime here: call it within one, or use the blocking client";
            return Err(Error::new(SERVER_UNAVAILABLE, text));
        }
        self.options.check()?;
        Client::at(address::parse(servers)?, self.options)
    }
}
