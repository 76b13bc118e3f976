//! The way in: a client of one cluster.

pub(crate) mod address;
pub(crate) mod boot_clock;
pub(crate) mod builder;
pub(crate) mod definitions;
pub(crate) mod environment;
pub(crate) mod expiry_thread;
pub(crate) mod fork_detection;
pub(crate) mod options;
pub(crate) mod state;

use std::{
    mem,
    sync::{Arc, OnceLock},
};

use sequent_core::SequenceName;
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
    transport::{Transport, grpc::GrpcTransport},
};

/// A client of one cluster: its endpoints, and the sequences in use. Cheap to clone; all clones share everything.
///
/// Its background work runs on the tokio runtime that it was made in. In a forked child it is another client: what the
/// parent holds stays the parent's, and the child connects by itself, in a runtime of its own.
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
    /// The same client, in a child of the process that made this one.
    child: OnceLock<Client>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.state.fork_guard.is_forked_child() {
            // The parent's: its threads go on with it, and may have held any of its locks when this copy was made.
            mem::forget(Arc::clone(&self.state));
        }
    }
}

/// What a client can be made of once more.
#[derive(Clone)]
enum Servers {
    At(Vec<Address>),
    InMemory(Option<u64>, Templates),
    #[cfg(test)]
    Scripted(Vec<Arc<dyn Transport>>, Environment),
}

impl Client {
    /// Connects to a cluster by the addresses of its servers' gRPC doors: `http://a:7420,http://b:7420`.
    ///
    /// Returns once one of them answers; fails, retryably, if none has within the default deadline.
    pub async fn connect(servers: &str) -> Result<Self, Error> {
        Self::builder().connect(servers).await
    }

    /// [`connect`](Self::connect) to the addresses in `SEQUENT_SERVER`.
    pub async fn from_env() -> Result<Self, Error> {
        Self::builder().connect_from_env().await
    }

    /// Settings first.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// The same types without a server, for tests: every name is a sequence, each counts from 1, all in this process.
    ///
    /// Under a tokio runtime, like the others.
    pub fn in_memory() -> Self {
        let made = Self::made(Servers::InMemory(None, Templates::default()), Arc::new(Options::ageless()));
        // Nothing ages in memory: without its ticker only metrics are missing.
        drop(expiry_thread::start(&made.0.state));
        made
    }

    /// A client in memory that skips numbers and gives them out of order, as a cluster may, by this seed; it never
    /// repeats one. Sequences made before know nothing of it. A client of servers stays what it is.
    #[must_use]
    pub fn unruly(self, seed: u64) -> Self {
        let Servers::InMemory(_, templates) = &self.0.servers else { return self };
        self.remade(Some(seed), templates.clone())
    }

    /// A client in memory whose sequence `name` has texts of this template, in a zone such as `UTC`. Sequences made before
    /// know nothing of it. A template that could render two numbers alike is refused; so is it by a client of servers,
    /// whose definitions are the cluster's.
    pub fn template(self, name: &str, template: &str, zone: &str) -> Result<Self, Error> {
        let Servers::InMemory(unruly, templates) = &self.0.servers else {
            return Err(Error::field(
                "template",
                format!("{template:?}"),
                "only a client in memory takes one",
            ));
        };
        let templates = templates.with(named(name)?, template, zone)?;
        Ok(self.remade(*unruly, templates))
    }

    fn remade(&self, unruly: Option<u64>, templates: Templates) -> Self {
        let made = Self::made(Servers::InMemory(unruly, templates), Arc::clone(&self.0.state.options));
        drop(expiry_thread::start(&made.0.state));
        made
    }

    /// A sequence by its name. No I/O: a name that the cluster does not know is told by the first take.
    pub fn sequence(&self, name: &str) -> Result<Sequence, Error> {
        let parsed = named(name)?;
        let here = self.in_this_process();
        let shared = here.state().shared(RequestScope::of(parsed))?;
        Ok(Sequence::new(here.clone(), shared))
    }

    /// Each endpoint, and whether it is in use or may be.
    pub fn endpoints(&self) -> Vec<(String, bool)> {
        let states = self.in_this_process().state().endpoints.states();
        states.into_iter().map(|(address, state)| (address, state == SlotState::Live)).collect()
    }

    pub(crate) fn at(servers: Vec<Address>, options: Options) -> Result<Self, Error> {
        let made = Self::made(Servers::At(servers), Arc::new(options));
        let started = expiry_thread::start(&made.0.state);
        started
            .map_err(|error| Error::new(SERVER_UNAVAILABLE, format!("no thread for the ticker: {error}")))?;
        Ok(made)
    }

    /// Over transports that a test scripts; without a ticker.
    #[cfg(test)]
    pub(crate) fn scripted(
        transports: Vec<Arc<dyn Transport>>,
        options: Options,
        environment: Environment,
    ) -> Self {
        Self::made(Servers::Scripted(transports, environment), Arc::new(options))
    }

    /// Waits until one endpoint answers.
    pub(crate) async fn wait_until_serving(&self) -> Result<(), Error> {
        let state = self.state();
        let within = state.options.deadline;
        let mut retry = RetryDeadline::new(&*state.environment.timers, &*state.environment.entropy, within);
        while let Err(error) = state.endpoints.wait_until_serving().await {
            retry.pause_or_fail(error).await?;
        }
        Ok(())
    }

    pub(crate) fn state(&self) -> &Arc<ClientState> {
        &self.0.state
    }

    /// Whether this is a child of the process that made this client.
    pub(crate) fn is_forked_child(&self) -> bool {
        self.0.state.fork_guard.is_forked_child()
    }

    /// This client; in a forked child its like, made anew on the child's own runtime.
    pub(crate) fn in_this_process(&self) -> &Self {
        if self.is_forked_child() {
            self.0.child.get_or_init(|| self.for_child()).in_this_process()
        } else {
            self
        }
    }

    fn for_child(&self) -> Self {
        let options = || Arc::clone(&self.0.state.options);
        let made = Self::made(self.0.servers.clone(), options());
        match expiry_thread::start(&made.0.state) {
            Ok(()) => made,
            // Without its ticker no lease would age: better a client of no server, whose calls fail.
            Err(_) => Self::made(Servers::At(Vec::new()), options()),
        }
    }

    fn made(servers: Servers, options: Arc<Options>) -> Self {
        #[allow(unused_mut, reason = "tests bring their own")]
        let mut environment = Environment::default();
        let transports: Vec<Arc<dyn Transport>> = match &servers {
            Servers::At(addresses) => {
                let transport = |address: &Address| {
                    GrpcTransport::new(address.clone(), options.connect_timeout, options.identity.clone())
                        as Arc<_>
                };
                addresses.iter().map(transport).collect()
            }
            Servers::InMemory(unruly, templates) => vec![Memory::new(*unruly, templates.clone())],
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

fn named(name: &str) -> Result<SequenceName, Error> {
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
