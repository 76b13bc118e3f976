//! Client of one cluster.

pub(crate) mod address;
mod boot_clock;
pub(crate) mod builder;
pub(crate) mod definitions;
pub(crate) mod environment;
mod expiry_thread;
pub(crate) mod fork_detection;
pub(crate) mod options;
pub(crate) mod state;

use std::{
    mem,
    sync::{Arc, OnceLock},
};

use sequent_core::SequenceName;
use sequent_format::Registry;
use sequent_ha::SlotState;

use crate::{
    client::{
        address::Address, builder::ClientBuilder, environment::Environment, options::Options,
        state::ClientState,
    },
    error::{Error, SERVER_UNAVAILABLE},
    lease::request_scope::RequestScope,
    memory::{Memory, Templates},
    retry_deadline::RetryDeadline,
    sequence::Sequence,
    transport::{Transport, grpc::GrpcTransport, tls::ClientTls},
};

/// Client of one cluster. Cheap to clone; all clones share endpoints, leases and sequences.
///
/// Background work runs on the tokio runtime in which the client was made. In a forked child it becomes another
/// client. The parent keeps its numbers, and the child connects on its own, in its own runtime.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), sequent_client::Error> {
/// use sequent_client::Client;
/// let client = Client::in_memory();               // or Client::connect("http://a:7420,http://b:7420").await?
/// let orders = client.sequence("order")?;
/// assert_eq!(orders.next().await?.to_string(), "1");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    state: Arc<ClientState>,
    servers: Servers,
    /// The client of a forked child.
    child: OnceLock<Client>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.state.fork_guard.is_forked_child() {
            // It belongs to the parent, whose threads may have held its locks during the fork. Dropping it could
            // deadlock.
            mem::forget(Arc::clone(&self.state));
        }
    }
}

/// What is needed to make the client again.
#[derive(Clone)]
enum Servers {
    At(Vec<Address>, Option<Arc<ClientTls>>),
    InMemory(Option<u64>, Templates),
    #[cfg(test)]
    Scripted(Vec<Arc<dyn Transport>>, Environment),
}

impl Client {
    /// Connects to a cluster by the addresses of its servers: `http://a:7420,http://b:7420`.
    ///
    /// Returns once a server answers. Fails with a retryable error if none does within the default deadline.
    pub async fn connect(servers: &str) -> Result<Self, Error> {
        Self::builder().connect(servers).await
    }

    /// [`connect`](Self::connect) to the addresses in `SEQUENT_SERVER`.
    pub async fn from_env() -> Result<Self, Error> {
        Self::builder().connect_from_env().await
    }

    /// A builder with settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// A client without a server, for tests. Every name is a sequence that counts from 1 in this process.
    ///
    /// Must be called within a tokio runtime, like the others.
    pub fn in_memory() -> Self {
        Self::builder().in_memory()
    }

    pub(crate) fn in_memory_with(functions: Registry) -> Self {
        let options = Options { functions, ..Options::ageless() };
        let client = Self::build(Servers::InMemory(None, Templates::default()), Arc::new(options));
        // Leases in memory do not expire. Without the thread, only metrics are missing.
        drop(expiry_thread::start(&client.0.state));
        client
    }

    /// The same client in memory, with gaps and out of order, as a cluster may behave. The seed decides where. No
    /// number repeats. Existing sequences are not affected, and neither is a client of servers.
    #[must_use]
    pub fn unruly(self, seed: u64) -> Self {
        let Servers::InMemory(_, templates) = &self.0.servers else { return self };
        self.rebuild(Some(seed), templates.clone())
    }

    /// The same client in memory, with a template for the sequence `name` in a time zone such as `UTC`. Existing
    /// sequences are not affected.
    ///
    /// A template that could render two numbers alike is refused. A client of servers refuses every template, since
    /// its cluster has the definitions.
    pub fn template(self, name: &str, template: &str, zone: &str) -> Result<Self, Error> {
        let Servers::InMemory(chaos_seed, templates) = &self.0.servers else {
            return Err(Error::field(
                "template",
                format!("{template:?}"),
                "only a client in memory takes one",
            ));
        };
        let templates =
            templates.with(parse_name(name)?, (template, zone), &self.0.state.options.functions)?;
        Ok(self.rebuild(*chaos_seed, templates))
    }

    fn rebuild(&self, chaos_seed: Option<u64>, templates: Templates) -> Self {
        let client = Self::build(Servers::InMemory(chaos_seed, templates), Arc::clone(&self.0.state.options));
        drop(expiry_thread::start(&client.0.state));
        client
    }

    /// A sequence by its name, without I/O. An unknown name is reported by the first call that takes a number.
    pub fn sequence(&self, name: &str) -> Result<Sequence, Error> {
        let parsed = parse_name(name)?;
        let here = self.in_this_process();
        let shared = here.state().shared(RequestScope::of(parsed))?;
        Ok(Sequence::new(here.clone(), shared))
    }

    /// Each endpoint, and whether it is healthy.
    pub fn endpoints(&self) -> Vec<(String, bool)> {
        let states = self.in_this_process().state().endpoints.states();
        states.into_iter().map(|(address, state)| (address, state == SlotState::Live)).collect()
    }

    pub(crate) fn at(servers: Vec<Address>, options: Options) -> Result<Self, Error> {
        let tls = tls(&servers, &options)?;
        let client = Self::build(Servers::At(servers, tls), Arc::new(options));
        let started = expiry_thread::start(&client.0.state);
        started.map_err(|error| {
            Error::new(SERVER_UNAVAILABLE, format!("no thread for the expiry of leases: {error}"))
        })?;
        Ok(client)
    }

    /// A client over scripted transports, without expiry thread.
    #[cfg(test)]
    pub(crate) fn scripted(
        transports: Vec<Arc<dyn Transport>>,
        options: Options,
        environment: Environment,
    ) -> Self {
        Self::build(Servers::Scripted(transports, environment), Arc::new(options))
    }

    /// Waits until one endpoint answers.
    pub(crate) async fn wait_until_serving(&self) -> Result<(), Error> {
        let state = self.state();
        let within = state.options.deadline;
        let mut retry = RetryDeadline::new(&*state.environment.timers, &*state.environment.entropy, within);
        while let Err(error) = state.endpoints.check_any_serving().await {
            retry.pause_or_fail(error).await?;
        }
        Ok(())
    }

    pub(crate) fn state(&self) -> &Arc<ClientState> {
        &self.0.state
    }

    /// Whether this process is a forked child of the one that made the client.
    pub(crate) fn is_forked_child(&self) -> bool {
        self.0.state.fork_guard.is_forked_child()
    }

    /// This client. In a forked child, the client of the child on its own runtime.
    pub(crate) fn in_this_process(&self) -> &Self {
        if self.is_forked_child() {
            self.0.child.get_or_init(|| self.for_child()).in_this_process()
        } else {
            self
        }
    }

    fn for_child(&self) -> Self {
        let options = || Arc::clone(&self.0.state.options);
        let client = Self::build(self.0.servers.clone(), options());
        match expiry_thread::start(&client.0.state) {
            Ok(()) => client,
            // Without the thread no lease would expire. A client without servers, whose calls fail, is safer.
            Err(_) => Self::build(Servers::At(Vec::new(), None), options()),
        }
    }

    fn build(servers: Servers, options: Arc<Options>) -> Self {
        #[allow(unused_mut, reason = "tests bring their own")]
        let mut environment = Environment::default();
        let transports: Vec<Arc<dyn Transport>> = match &servers {
            Servers::At(addresses, tls) => {
                let transport =
                    |address: &Address| GrpcTransport::new(address.clone(), &options, tls.clone()) as Arc<_>;
                addresses.iter().map(transport).collect()
            }
            Servers::InMemory(chaos_seed, templates) => vec![Memory::new(*chaos_seed, templates.clone())],
            #[cfg(test)]
            Servers::Scripted(transports, scripted) => {
                environment = scripted.clone();
                transports.clone()
            }
        };
        let state = ClientState::new(transports, options, environment);
        Self(Arc::new(Inner { state, servers, child: OnceLock::new() }))
    }
}

/// TLS of the servers that have it. Options without such a server are refused: nothing would be encrypted.
fn tls(servers: &[Address], options: &Options) -> Result<Option<Arc<ClientTls>>, Error> {
    if servers.iter().any(Address::is_tls) {
        return ClientTls::new(options.tls.clone(), b"h2").map(Some);
    }
    match servers.first() {
        Some(server) if !options.tls.is_empty() => {
            let bound = "TLS is configured, so https:// is expected";
            Err(Error::field("server", format!("\"{server}\""), bound))
        }
        _ => Ok(None),
    }
}

fn parse_name(name: &str) -> Result<SequenceName, Error> {
    name.parse().map_err(|error: sequent_core::NameError| {
        let shown: String = name.chars().take(40).collect();
        Error::field("sequence", format!("{shown:?}"), error)
    })
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("endpoints", &self.0.state.endpoints).finish()
    }
}
