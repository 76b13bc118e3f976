//! The way in: a client of one cluster.

pub(crate) mod address;
pub(crate) mod boot_clock;
pub(crate) mod builder;
pub(crate) mod definitions;
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
        address::Address,
        builder::ClientBuilder,
        options::Options,
        state::{Ground, Nature},
    },
    error::{Error, SERVER_UNAVAILABLE},
    lease::request_scope::Scope,
    memory::{Memory, Templates},
    retry_deadline::Patience,
    sequence::Sequence,
    transport::{Transport, grpc::Wire},
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
    ground: Arc<Ground>,
    servers: Servers,
    /// The same client, in a child of the process that made this one.
    child: OnceLock<Client>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.ground.process.is_left() {
            // The parent's: its threads go on with it, and may have held any of its locks when this copy was made.
            mem::forget(Arc::clone(&self.ground));
        }
    }
}

/// What a client can be made of once more.
#[derive(Clone)]
enum Servers {
    At(Vec<Address>),
    InMemory(Option<u64>, Templates),
    #[cfg(test)]
    Scripted(Vec<Arc<dyn Transport>>, Nature),
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
        drop(expiry_thread::start(&made.0.ground));
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
        let made = Self::made(Servers::InMemory(unruly, templates), Arc::clone(&self.0.ground.options));
        drop(expiry_thread::start(&made.0.ground));
        made
    }

    /// A sequence by its name. No I/O: a name that the cluster does not know is told by the first take.
    pub fn sequence(&self, name: &str) -> Result<Sequence, Error> {
        let parsed = named(name)?;
        let here = self.here();
        let shared = here.ground().shared(Scope::of(parsed))?;
        Ok(Sequence::new(here.clone(), shared))
    }

    /// Each endpoint, and whether it is in use or may be.
    pub fn endpoints(&self) -> Vec<(String, bool)> {
        let states = self.here().ground().endpoints.states();
        states.into_iter().map(|(address, state)| (address, state == SlotState::Live)).collect()
    }

    pub(crate) fn at(servers: Vec<Address>, options: Options) -> Result<Self, Error> {
        let made = Self::made(Servers::At(servers), Arc::new(options));
        let started = expiry_thread::start(&made.0.ground);
        started
            .map_err(|error| Error::new(SERVER_UNAVAILABLE, format!("no thread for the ticker: {error}")))?;
        Ok(made)
    }

    /// Over transports that a test scripts; without a ticker.
    #[cfg(test)]
    pub(crate) fn scripted(transports: Vec<Arc<dyn Transport>>, options: Options, nature: Nature) -> Self {
        Self::made(Servers::Scripted(transports, nature), Arc::new(options))
    }

    /// Waits until one endpoint answers.
    pub(crate) async fn greet(&self) -> Result<(), Error> {
        let ground = self.ground();
        let within = ground.options.deadline;
        let mut patience = Patience::new(&*ground.nature.timers, &*ground.nature.entropy, within);
        while let Err(error) = ground.endpoints.greet().await {
            patience.again(error).await?;
        }
        Ok(())
    }

    pub(crate) fn ground(&self) -> &Arc<Ground> {
        &self.0.ground
    }

    /// Whether this is a child of the process that made this client.
    pub(crate) fn is_left(&self) -> bool {
        self.0.ground.process.is_left()
    }

    /// This client; in a forked child its like, made anew on the child's own runtime.
    pub(crate) fn here(&self) -> &Self {
        if self.is_left() { self.0.child.get_or_init(|| self.anew()).here() } else { self }
    }

    fn anew(&self) -> Self {
        let options = || Arc::clone(&self.0.ground.options);
        let made = Self::made(self.0.servers.clone(), options());
        match expiry_thread::start(&made.0.ground) {
            Ok(()) => made,
            // Without its ticker no lease would age: better a client of no server, whose calls fail.
            Err(_) => Self::made(Servers::At(Vec::new()), options()),
        }
    }

    fn made(servers: Servers, options: Arc<Options>) -> Self {
        #[allow(unused_mut, reason = "tests bring their own")]
        let mut nature = Nature::default();
        let transports: Vec<Arc<dyn Transport>> = match &servers {
            Servers::At(addresses) => {
                let wire = |address: &Address| {
                    Wire::new(address.clone(), options.connect_timeout, options.identity.clone()) as Arc<_>
                };
                addresses.iter().map(wire).collect()
            }
            Servers::InMemory(unruly, templates) => vec![Memory::new(*unruly, templates.clone())],
            #[cfg(test)]
            Servers::Scripted(transports, scripted) => {
                nature = scripted.clone();
                transports.clone()
            }
        };
        let ground = Ground::new(transports, options, nature);
        Self(Arc::new(Inner { ground, servers, child: OnceLock::new() }))
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
        f.debug_struct("Client").field("endpoints", &self.0.ground.endpoints).finish()
    }
}
