//! Builder of a client.

use std::{path::PathBuf, time::Duration};

use crate::{
    client::{Client, address, options::Options},
    error::{Error, SERVER_UNAVAILABLE},
    transport::token_file::TokenFile,
};

/// Environment variable with the addresses of the servers.
const SERVERS: &str = "SEQUENT_SERVER";

/// Environment variable with the path of a token.
const TOKEN_FILE: &str = "SEQUENT_TOKEN_FILE";

/// Settings of a [`Client`]. Each has a default that suits most services. A value that can't work is refused when the
/// client is made, with its name, its value and its bounds.
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
    token_file: Option<PathBuf>,
}

impl ClientBuilder {
    /// Default deadline of a call that takes numbers: 1 ms or more. Default: 1.5 s.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.options.deadline = deadline;
        self
    }

    /// How old a leased number may be when it is handed out, unless the server allows less: 100 ms to 24 h. Default:
    /// 10 s.
    pub fn lease_max_age(mut self, age: Duration) -> Self {
        self.options.lease_age_max = age;
        self
    }

    /// For how much demand numbers are leased ahead, in time; at most a quarter of their age. Default: 2 s.
    pub fn reserve(mut self, ahead: Duration) -> Self {
        self.options.reserve = ahead;
        self
    }

    /// Limit on leased numbers of a sequence, which are burnt if the process ends. Default: 100,000.
    pub fn at_risk_max(mut self, count: u64) -> Self {
        self.options.at_risk_max = count;
        self
    }

    /// How long a connection may take to open: 1 ms to 1 h. Default: 500 ms.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.options.connect_timeout = timeout;
        self
    }

    /// Identity of the cluster. Only servers that confirm it are used; any other endpoint counts as down.
    pub fn identity(mut self, identity: &str) -> Self {
        self.options.identity = Some(identity.into());
        self
    }

    /// A file with the token that says who the client is. It is read at connecting, again within a second when it
    /// changes, and at once when a server refuses the token: a token is rotated by putting another one in the file.
    pub fn token_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.token_file = Some(path.into());
        self
    }

    /// Time limit of one endpoint per request: 1 ms to 1 h. Default: 1 s. After [`slow_after`](Self::slow_after), a
    /// second endpoint is asked as well.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.options.health.attempt_timeout = timeout;
        self
    }

    /// A slower answer counts against its endpoint. Three within a minute evict it. Default: 200 ms.
    pub fn slow_after(mut self, after: Duration) -> Self {
        self.options.health.slow_after = after;
        self
    }

    /// Connects. See [`Client::connect`].
    pub async fn connect(self, servers: &str) -> Result<Client, Error> {
        let client = self.connect_lazily(servers)?;
        client.wait_until_serving().await?;
        Ok(client)
    }

    /// [`connect`](Self::connect) to the addresses in `SEQUENT_SERVER`, with the token in the file that
    /// `SEQUENT_TOKEN_FILE` names, if it is set and no other was named.
    pub async fn connect_from_env(mut self) -> Result<Client, Error> {
        let servers = std::env::var(SERVERS).unwrap_or_default();
        if servers.is_empty() {
            let bound = "the addresses of the servers are expected, as in http://a:7420,http://b:7420";
            return Err(Error::field(SERVERS, "not set", bound));
        }
        let token_file = std::env::var_os(TOKEN_FILE).filter(|path| !path.is_empty());
        self.token_file = self.token_file.or_else(|| token_file.map(PathBuf::from));
        self.connect(&servers).await
    }

    /// A client that connects when the first number is requested, for a service that must start without its servers.
    ///
    /// Must be called within a tokio runtime, which runs the background work.
    pub fn connect_lazily(mut self, servers: &str) -> Result<Client, Error> {
        if tokio::runtime::Handle::try_current().is_err() {
            let text = "no tokio runtime here: call it within one, or use the blocking client";
            return Err(Error::new(SERVER_UNAVAILABLE, text));
        }
        self.options.check()?;
        self.options.token = self.token_file.as_deref().map(TokenFile::open).transpose()?;
        Client::at(address::parse(servers)?, self.options)
    }
}
