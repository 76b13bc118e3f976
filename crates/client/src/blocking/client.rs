//! A client for threads that may wait.

use std::sync::{Arc, OnceLock};

use crate::{
    blocking::{sequence::Sequence, worker::Worker},
    client::builder::ClientBuilder,
    error::Error,
};

/// A client of one cluster, as [`crate::Client`] is, with a thread of its own for its work. Cheap to clone.
///
/// In a forked child it is another client: what the parent holds stays the parent's, and the child connects by itself.
#[derive(Debug, Clone)]
pub struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: crate::client::Client,
    worker: Worker,
    /// The same client, in a child of the process that made this one; or why there is none.
    child: OnceLock<Result<Client, Error>>,
}

impl Client {
    /// Connects to a cluster by the addresses of its servers' gRPC doors: `http://a:7420,http://b:7420`.
    ///
    /// Returns once one of them answers; fails, retryably, if none has within the default deadline.
    pub fn connect(servers: &str) -> Result<Self, Error> {
        Self::connect_with(crate::client::Client::builder(), servers)
    }

    /// The same with settings.
    pub fn connect_with(settings: ClientBuilder, servers: &str) -> Result<Self, Error> {
        let worker = Worker::start()?;
        let client = worker.wait(settings.connect(servers))?;
        Ok(Self::new(client, worker))
    }

    /// [`connect`](Self::connect) to the addresses in `SEQUENT_SERVER`.
    pub fn from_env() -> Result<Self, Error> {
        let worker = Worker::start()?;
        let client = worker.wait(crate::client::Client::from_env())?;
        Ok(Self::new(client, worker))
    }

    /// The same types without a server, for tests: every name is a sequence, each counts from 1, all in this process.
    ///
    /// # Panics
    ///
    /// Where the system has no thread left.
    pub fn in_memory() -> Self {
        #[allow(clippy::panic, reason = "a test on a machine without a thread can't go on")]
        let worker = Worker::start().unwrap_or_else(|error| panic!("{error}"));
        let client = worker.wait(async { crate::client::Client::in_memory() });
        Self::new(client, worker)
    }

    /// A client in memory that skips numbers and gives them out of order by this seed; it never repeats one.
    #[must_use]
    pub fn unruly(self, seed: u64) -> Self {
        let worker = self.0.worker.clone();
        let client = worker.wait(async { self.0.client.clone().unruly(seed) });
        Self::new(client, worker)
    }

    /// A client in memory whose sequence `name` has texts of this template, as [`crate::Client::template`] has it.
    pub fn template(self, name: &str, template: &str, zone: &str) -> Result<Self, Error> {
        let worker = self.0.worker.clone();
        let client = worker.wait(async { self.0.client.clone().template(name, template, zone) })?;
        Ok(Self::new(client, worker))
    }

    /// A sequence by its name. No I/O: a name that the cluster does not know is told by the first take.
    pub fn sequence(&self, name: &str) -> Result<Sequence, Error> {
        let here = self.in_this_process()?;
        Ok(Sequence::new(here.0.client.sequence(name)?, here.clone()))
    }

    /// Each endpoint, and whether it is in use or may be.
    pub fn endpoints(&self) -> Vec<(String, bool)> {
        self.in_this_process().map(|here| here.0.client.endpoints()).unwrap_or_default()
    }

    fn new(client: crate::client::Client, worker: Worker) -> Self {
        Self(Arc::new(Inner { client, worker, child: OnceLock::new() }))
    }

    pub(super) fn worker(&self) -> &Worker {
        &self.0.worker
    }

    /// This client; in a forked child its like, with a thread of the child's own.
    pub(super) fn in_this_process(&self) -> Result<&Self, Error> {
        if !self.0.client.is_forked_child() {
            return Ok(self);
        }
        let child = self.0.child.get_or_init(|| {
            let worker = Worker::start()?;
            let client = worker.wait(async { self.0.client.in_this_process().clone() });
            Ok(Self::new(client, worker))
        });
        child.as_ref().map_err(Clone::clone)?.in_this_process()
    }
}
