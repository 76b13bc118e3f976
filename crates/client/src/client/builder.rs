//! Builder of a client.

use std::{env, path::PathBuf, time::Duration};

use sequent_format::{Arguments, Function};

use crate::{
    client::{Client, address, options::Options},
    error::{Error, SERVER_UNAVAILABLE},
    transport::{tls::TlsOptions, token_file::TokenFile},
};

/// Environment variable with the addresses of the servers.
const SERVERS: &str = "SEQUENT_SERVER";

/// Environment variable with the path of a token.
const TOKEN_FILE: &str = "SEQUENT_TOKEN_FILE";
/// Environment variables with the files and the name of TLS.
const TLS_CA: &str = "SEQUENT_TLS_CA";
const TLS_CERT: &str = "SEQUENT_TLS_CERT";
const TLS_KEY: &str = "SEQUENT_TLS_KEY";
const TLS_NAME: &str = "SEQUENT_TLS_NAME";

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

    /// Registers a function that templates name, so that their texts are rendered here. It must give the same texts as
    /// the servers' function of this name. Texts of a function that is not registered here are rendered by the servers.
    ///
    /// ```
    /// use sequent_client::{Client, Function};
    /// let builder = Client::builder().function("SiteCheck", |_args| {
    ///     Ok(Function::new(1..=1, "A-Z", |_input, out| out.write_char('A')))
    /// });
    /// ```
    pub fn function(
        mut self,
        name: &str,
        define: impl Fn(&Arguments<'_>) -> Result<Function, String> + Send + Sync + 'static,
    ) -> Self {
        self.options.functions = self.options.functions.with(name, define);
        self
    }

    /// A client without a server, for tests, with the functions that were registered. Everything else is as in
    /// [`Client::in_memory`].
    pub fn in_memory(self) -> Client {
        Client::in_memory_with(self.options.functions)
    }

    /// A file with the authorities that sign the certificates of servers with `https://`, as PEM. Default: those that
    /// the system trusts.
    ///
    /// This file, and those of [`tls_identity`](Self::tls_identity), are read again for each connection, so a renewed
    /// certificate needs no restart.
    pub fn tls_ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.options.tls.ca_file = Some(file.into());
        self
    }

    /// The certificate that this client presents, with its intermediates, and its key: two files, as PEM.
    pub fn tls_identity(mut self, cert_file: impl Into<PathBuf>, key_file: impl Into<PathBuf>) -> Self {
        self.options.tls.cert_file = Some(cert_file.into());
        self.options.tls.key_file = Some(key_file.into());
        self
    }

    /// The name that the certificates of servers must have. Default: the host of the address.
    pub fn server_name(mut self, name: &str) -> Self {
        self.options.tls.server_name = Some(name.to_owned());
        self
    }

    /// Sets the options of TLS together. For the commands of `sequent`.
    #[doc(hidden)]
    pub fn tls_options(mut self, options: TlsOptions) -> Self {
        self.options.tls = options;
        self
    }

    /// Connects. See [`Client::connect`].
    pub async fn connect(self, servers: &str) -> Result<Client, Error> {
        let client = self.connect_lazily(servers)?;
        client.wait_until_serving().await?;
        Ok(client)
    }

    /// [`connect`](Self::connect) to the addresses in `SEQUENT_SERVER`. Options that are not set come from
    /// `SEQUENT_TOKEN_FILE`, `SEQUENT_TLS_CA`, `SEQUENT_TLS_CERT`, `SEQUENT_TLS_KEY` (files) and `SEQUENT_TLS_NAME`.
    pub async fn connect_from_env(mut self) -> Result<Client, Error> {
        let servers = env::var(SERVERS).unwrap_or_default();
        if servers.is_empty() {
            let bound = "the addresses of the servers are expected, as in http://a:7420,http://b:7420";
            return Err(Error::field(SERVERS, "not set", bound));
        }
        let token_file = env::var_os(TOKEN_FILE).filter(|path| !path.is_empty());
        self.token_file = self.token_file.or_else(|| token_file.map(PathBuf::from));
        let given = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let tls = &mut self.options.tls;
        tls.ca_file = tls.ca_file.take().or_else(|| given(TLS_CA).map(Into::into));
        if tls.cert_file.is_none() && tls.key_file.is_none() {
            (tls.cert_file, tls.key_file) = (given(TLS_CERT).map(Into::into), given(TLS_KEY).map(Into::into));
        }
        tls.server_name = tls.server_name.take().or_else(|| given(TLS_NAME));
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
