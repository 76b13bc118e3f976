//! Blocking client.

use std::sync::{Arc, OnceLock};

use crate::{
    blocking::{sequence::Sequence, worker::Worker},
    client::builder::ClientBuilder,
    error::Error,
};

/// Blocking client of one cluster: [`crate::Client`] with a background thread of its own. Cheap to clone.
///
/// In a forked child it becomes another client. The parent keeps its numbers, and the child connects on its own.
#[derive(Debug, Clone)]
pub struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: crate::client::Client,
    worker: Worker,
    /// The client of a forked child, or the error that prevents it.
    child: OnceLock<Result<Client, Error>>,
}

impl Client {
    /// Connects to a cluster by the addresses of its servers: `http://a:7420,http://b:7420`.
    ///
    /// Returns once a server answers. Fails with a retryable error if none does within the default deadline.
    pub fn connect(servers: &str) -> Result<Self, Error> {
        Self::connect_with(crate::client::Client::builder(), servers)
    }

    /// Connects with settings.
    pub fn connect_with(settings: ClientBuilder, servers: &str) -> Result<Self, Error> {
        Self::start(settings.connect(servers))
    }

    /// [`connect`](Self::connect) to the addresses in `SEQUENT_SERVER`.
    pub fn from_env() -> Result<Self, Error> {
        Self::start(crate::client::Client::from_env())
    }

    /// A client without a server, for tests. Every name is a sequence that counts from 1 in this process.
    ///
    /// # Panics
    ///
    /// If the system can't start a thread.
    pub fn in_memory() -> Self {
        #[allow(clippy::panic, reason = "a test on a machine without a thread can't go on")]
        let worker = Worker::start().unwrap_or_else(|error| panic!("{error}"));
        let client = worker.wait(async { crate::client::Client::in_memory() });
        Self::new(client, worker)
    }

    /// The same client in memory, with gaps and out of order. The seed decides where. No number repeats.
    #[must_use]
    pub fn unruly(self, seed: u64) -> Self {
        let worker = self.0.worker.clone();
        let client = worker.wait(async { self.0.client.clone().unruly(seed) });
        Self::new(client, worker)
    }

    /// The same client in memory, with a template for the sequence `name`. See [`crate::Client::template`].
    pub fn template(self, name: &str, template: &str, zone: &str) -> Result<Self, Error> {
        let worker = self.0.worker.clone();
        let client = worker.wait(async { self.0.client.clone().template(name, template, zone) })?;
        Ok(Self::new(client, worker))
    }

    /// A sequence by its name, without I/O. An unknown name is reported by the first call that takes a number.
    pub fn sequence(&self, name: &str) -> Result<Sequence, Error> {
        let here = self.in_this_process()?;
        Ok(Sequence::new(here.0.client.sequence(name)?, here.clone()))
    }

    /// Each endpoint, and whether it is healthy.
    pub fn endpoints(&self) -> Vec<(String, bool)> {
        self.in_this_process().map(|here| here.0.client.endpoints()).unwrap_or_default()
    }

    /// Makes a client on a thread of its own.
    fn start(connecting: impl Future<Output = Result<crate::client::Client, Error>>) -> Result<Self, Error> {
        let worker = Worker::start()?;
        let client = worker.wait(connecting)?;
        Ok(Self::new(client, worker))
    }

    fn new(client: crate::client::Client, worker: Worker) -> Self {
        Self(Arc::new(Inner { client, worker, child: OnceLock::new() }))
    }

    pub(super) fn worker(&self) -> &Worker {
        &self.0.worker
    }

    /// This client. In a forked child, the client of the child with its own thread.
    pub(super) fn in_this_process(&self) -> Result<&Self, Error> {
        if !self.0.client.is_forked_child() {
            return Ok(self);
        }
        let child =
            self.0.child.get_or_init(|| Self::start(async { Ok(self.0.client.in_this_process().clone()) }));
        child.as_ref().map_err(Clone::clone)?.in_this_process()
    }
}
