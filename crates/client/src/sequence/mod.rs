//! Handle of a sequence.

pub(crate) mod batch;
pub(crate) mod fork_safe_wait;
mod forked_handle;
mod inner;
pub(crate) mod local;
pub(crate) mod next;
mod unbuffered;
mod wait;

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use sequent_buffer::{Reservoir, TakeError};

use crate::{
    client::{Client, fork_detection::ForkGuard, state::ClientState},
    error::Error,
    lease::request_scope::RequestScope,
    number::Number,
    sequence::{fork_safe_wait::fork_safe_call, local::Local, next::Next},
    telemetry::client_metrics,
};

pub(crate) use crate::sequence::inner::SequenceInner;

/// Numbers of one sequence. Cheap to clone, and shared by all tasks of a service. All handles share one lease.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), sequent_client::Error> {
/// # use sequent_client::Client;
/// let orders = Client::in_memory().sequence("order")?;
/// orders.ready().await?;
/// let number = orders.try_next().expect("a lease is held");
/// let batch = orders.next_many(3).await?;
/// assert!(batch.iter().all(|other| *other > number));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Sequence {
    pub(crate) reservoir: Reservoir,
    fork_guard: ForkGuard,
    /// How long each call may wait.
    pub(crate) deadline: Duration,
    pub(crate) shared: Arc<SequenceInner>,
    client: Client,
    /// The handle of a forked child.
    child: OnceLock<Box<Sequence>>,
}

impl Sequence {
    pub(crate) fn new(client: Client, shared: Arc<SequenceInner>) -> Self {
        let state = client.state();
        let (fork_guard, deadline) = (state.fork_guard.clone(), state.options.deadline);
        let reservoir = shared.reservoir.clone();
        Self { reservoir, fork_guard, deadline, shared, client, child: OnceLock::new() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.shared.scope.name().as_str()
    }

    /// The same sequence with another deadline for each call. With a deadline of zero, [`next`](Self::next) returns
    /// leased numbers, and every other call fails with `DEADLINE_EXCEEDED`.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self.child = OnceLock::new();
        self
    }

    /// The same sequence with a value for its template. It selects a partition, which has a lease of its own.
    ///
    /// A name or value that the template refuses is reported by the first call, and consumes no number.
    #[must_use]
    pub fn with(&self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.scoped(&self.shared.scope.with(name.into(), value.into()))
    }

    /// The same sequence at another instant than now: RFC 3339, or a local date or time in the time zone of the
    /// definition. An empty text is no instant, and the first call refuses it.
    #[must_use]
    pub fn at(&self, instant: impl Into<String>) -> Self {
        self.scoped(&self.shared.scope.at(instant.into()))
    }

    /// The same client and deadline for another scope. If the client has too many scopes, the handle gets a lease of
    /// its own.
    pub(crate) fn scoped(&self, scope: &RequestScope) -> Self {
        let client = self.client.in_this_process().clone();
        let shared = client.state().shared_or_own(scope);
        Self { deadline: self.deadline, ..Self::new(client, shared) }
    }

    /// The next number: from the lease in memory, or from a server if the lease is used up.
    ///
    /// Failed servers are skipped and retried until the deadline.
    #[inline]
    pub fn next(&self) -> Next<'_> {
        Next::new(self)
    }

    /// A number that is ready, or `None`. It never waits. Without a number, it starts a refill, except in a forked
    /// child before its first call that waits.
    #[inline]
    pub fn try_next(&self) -> Option<Number> {
        self.in_this_process_if_started()?.reservoir.try_next().and_then(Number::of)
    }

    /// `count` numbers in ascending order, or none; at most 1,000,000.
    pub async fn next_many(&self, count: usize) -> Result<Vec<Number>, Error> {
        let outcome = fork_safe_call(self, |here| Box::pin(here.many(count))).await;
        outcome.inspect_err(client_metrics::failed)
    }

    /// A number that was never part of a lease. It is later than every number that a server had given before this
    /// call.
    ///
    /// Concurrent callers share one request.
    pub async fn next_fresh(&self) -> Result<Number, Error> {
        let outcome = fork_safe_call(self, |here| Box::pin(here.unbuffered())).await;
        match &outcome {
            Ok(_) => client_metrics::issued("fresh", 1),
            Err(error) => client_metrics::failed(error),
        }
        outcome
    }

    /// Waits until a first lease is held. A service that is ready then answers its first callers at once.
    pub async fn ready(&self) -> Result<(), Error> {
        let outcome = fork_safe_call(self, |here| Box::pin(here.first())).await;
        outcome.inspect_err(client_metrics::failed)
    }

    /// A handle for one thread. It is a few times faster than a shared one, since it holds some numbers of its own.
    pub fn local(&self) -> Local {
        Local::new(self.in_this_process_if_started().unwrap_or(self).clone())
    }

    pub(crate) fn state(&self) -> &ClientState {
        self.client.state()
    }

    pub(crate) fn late(&self) -> Error {
        Error::late(self.name(), self.deadline)
    }

    pub(crate) fn failed(&self, error: TakeError) -> Error {
        Error::of(error, self.name(), self.deadline)
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence")
            .field("name", &self.name())
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
