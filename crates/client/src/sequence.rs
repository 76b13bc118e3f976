//! A sequence, as a service uses it.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use sequent_buffer::{Dry, Reservoir, Stats, TakeError};
use tokio::time::timeout;

use crate::{
    client::Client,
    endpoints::Endpoints,
    error::{Error, SERVER_UNAVAILABLE},
    fork::Process,
    fresh::{Merged, merged},
    ground::Ground,
    highest::Highest,
    local::Local,
    metric,
    next::Next,
    number::Number,
    parcel::Fresh,
    patience::Patience,
    rendering::Texts,
    scope::Scope,
    waiting::call,
};

/// The most numbers of one [`Sequence::next_many`].
const MANY_MAX: usize = 1_000_000;

/// How many numbers [`Sequence::ready`] waits for.
const READY: u64 = 64;

/// What all handles of one sequence share.
pub(crate) struct Shared {
    scope: Scope,
    highest: Arc<Highest>,
    reservoir: Reservoir,
    fresh: OnceLock<Merged>,
    reported: AtomicU64,
    /// Whether a server has said that there are no leases of it.
    is_dense: AtomicBool,
    texts: Texts,
}

impl Shared {
    pub(crate) fn new(scope: Scope, highest: Arc<Highest>, reservoir: Reservoir) -> Self {
        let (fresh, reported, is_dense) = (OnceLock::new(), AtomicU64::new(0), AtomicBool::new(false));
        Self { scope, highest, reservoir, fresh, reported, is_dense, texts: Texts::default() }
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(crate) fn reservoir(&self) -> &Reservoir {
        &self.reservoir
    }

    /// Counts what has been issued since the last report: counting each number would cost more than issuing it.
    pub(crate) fn report(&self) -> Stats {
        let stats = self.reservoir.stats();
        let before = self.reported.swap(stats.dealt, Ordering::Relaxed);
        metric::issued("lease", stats.dealt.saturating_sub(before));
        stats
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.report();
    }
}

/// Numbers of one sequence. Cheap to clone, to be shared by all tasks of a service; all handles share one lease.
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
    reservoir: Reservoir,
    process: Process,
    deadline: Duration,
    shared: Arc<Shared>,
    client: Client,
    /// The same handle, in a child of the process that made this one.
    child: OnceLock<Box<Sequence>>,
}

impl Sequence {
    pub(crate) fn new(client: Client, shared: Arc<Shared>) -> Self {
        let ground = client.ground();
        let (process, deadline) = (ground.process.clone(), ground.options.deadline);
        let reservoir = shared.reservoir.clone();
        Self { reservoir, process, deadline, shared, client, child: OnceLock::new() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.shared.scope.name().as_str()
    }

    /// The same sequence, each of whose takes may wait this long. With none at all, [`next`](Self::next) gives what is
    /// leased, and everything else is too late.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self.child = OnceLock::new();
        self
    }

    /// The same sequence with a value for its template: a partition of it, which has a lease of its own.
    ///
    /// A name or value that the template does not take is told by the first take, and consumes nothing.
    #[must_use]
    pub fn with(&self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.scoped(&self.scope().with(name.into(), value.into()))
    }

    /// The same sequence at another instant than now: RFC 3339, or a local date or time of the definition's zone. An empty
    /// text is none, and is refused by the first take.
    #[must_use]
    pub fn at(&self, instant: impl Into<String>) -> Self {
        self.scoped(&self.scope().at(instant.into()))
    }

    /// The same client and deadline for another scope. A client that holds too many gets one whose lease is its own.
    pub(crate) fn scoped(&self, scope: &Scope) -> Self {
        let client = self.client.here().clone();
        let shared = client.ground().shared_or_own(scope);
        Self { deadline: self.deadline, ..Self::new(client, shared) }
    }

    /// A number: from the lease in memory at once, and only where that is dry, from a server.
    ///
    /// Servers that fail are passed over, and asked again, until the deadline.
    #[inline]
    pub fn next(&self) -> Next<'_> {
        Next::new(self)
    }

    /// A number that is ready, or `None`: never waits. Finding nothing, it sends for more; only a forked child does not
    /// before its first call that waits.
    #[inline]
    pub fn try_next(&self) -> Option<Number> {
        self.begun()?.reservoir.try_next().and_then(Number::of)
    }

    /// So many numbers, ascending, or none; at most 1,000,000.
    pub async fn next_many(&self, count: usize) -> Result<Vec<Number>, Error> {
        let outcome = call(self, |here| Box::pin(here.many(count))).await;
        outcome.inspect_err(metric::failed)
    }

    /// A number that no lease has held: younger than every number that a server had given before this call.
    ///
    /// Callers that wait at the same time are answered by one request.
    pub async fn next_fresh(&self) -> Result<Number, Error> {
        let outcome = call(self, |here| Box::pin(here.fresh())).await;
        match &outcome {
            Ok(_) => metric::issued("fresh", 1),
            Err(error) => metric::failed(error),
        }
        outcome
    }

    /// Waits until a first lease is held, so that a service that is up answers its first callers at once.
    pub async fn ready(&self) -> Result<(), Error> {
        let outcome = call(self, |here| Box::pin(here.first())).await;
        outcome.inspect_err(metric::failed)
    }

    /// A handle for one thread, a few times faster than a shared one: it holds some numbers of its own.
    pub fn local(&self) -> Local {
        Local::new(self.begun().unwrap_or(self).clone())
    }

    /// This handle; in a forked child its like.
    #[inline]
    pub(crate) fn here(&self) -> &Self {
        if self.process.is_left() { self.childs() } else { self }
    }

    /// The same, but in a child that has not called a server yet nothing: it may still stand in its parent's runtime,
    /// whose threads it has not got. Who waits has one that runs.
    #[inline]
    pub(crate) fn begun(&self) -> Option<&Self> {
        if self.process.is_left() { self.child.get()?.begun() } else { Some(self) }
    }

    #[cold]
    #[inline(never)]
    fn childs(&self) -> &Self {
        let child = self.child.get_or_init(|| {
            let client = self.client.here().clone();
            // The name was good before, and the child's own table is empty.
            let shared = client
                .ground()
                .shared(self.shared.scope.clone())
                .unwrap_or_else(|_| Arc::clone(&self.shared));
            Box::new(Self { deadline: self.deadline, ..Self::new(client, shared) })
        });
        child.here()
    }

    /// The process that this handle was made in.
    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// Whether this is a child of the process that made this handle.
    #[inline]
    pub(crate) fn is_left(&self) -> bool {
        self.process.is_left()
    }

    #[inline]
    pub(crate) fn draw(&self) -> Result<u64, Dry> {
        self.reservoir.draw()
    }

    pub(crate) fn reservoir(&self) -> &Reservoir {
        &self.reservoir
    }

    /// Goes on from a draw that found nothing.
    pub(crate) async fn wait(&self, dry: Dry) -> Result<Number, Error> {
        let outcome = self.wait_on(dry).await;
        outcome.inspect_err(metric::failed)
    }

    async fn wait_on(&self, dry: Dry) -> Result<Number, Error> {
        let mut patience = self.patience();
        let mut taken = self.reservoir.wait(dry, patience.end()).await;
        loop {
            match taken.map(Number::of) {
                Ok(Some(number)) => return Ok(number),
                Ok(None) => {}
                Err(error) if self.is_dense(&error) => {
                    return self.fresh().await.inspect(|_| metric::issued("fresh", 1));
                }
                Err(error) => self.again(&mut patience, error).await?,
            }
            taken = self.reservoir.next(patience.end()).await;
        }
    }

    async fn first(&self) -> Result<(), Error> {
        let mut patience = self.patience();
        loop {
            match self.reservoir.ready(READY, patience.end()).await {
                Ok(()) => return Ok(()),
                // Every number is a request: there is nothing to hold before.
                Err(error) if self.is_dense(&error) => return Ok(()),
                Err(error) => self.again(&mut patience, error).await?,
            }
        }
    }

    async fn many(&self, count: usize) -> Result<Vec<Number>, Error> {
        if count == 0 || count > MANY_MAX {
            return Err(Error::field("count", count, format!("1 to {MANY_MAX} are allowed")));
        }
        let mut patience = self.patience();
        let want = u64::try_from(count).unwrap_or(u64::MAX);
        loop {
            match self.reservoir.take(want, patience.end()).await {
                Ok(blocks) => return Ok(blocks.numbers().filter_map(Number::of).collect()),
                Err(error) if self.is_dense(&error) => {
                    return self
                        .next_batch(u32::try_from(want).unwrap_or(u32::MAX))
                        .await
                        .map(|it| it.numbers);
                }
                Err(error) => self.again(&mut patience, error).await?,
            }
        }
    }

    async fn fresh(&self) -> Result<Number, Error> {
        let mut patience = self.patience();
        let within = self.deadline;
        loop {
            // Dropped with this call, so that nobody asks on behalf of a caller that is gone.
            let caller = Arc::new(());
            let ask = self.merged().ask(Arc::downgrade(&caller));
            let answer = timeout(patience.left(), ask).await;
            let error = match answer {
                Ok(Ok(Ok(number))) => match Fresh::open(number) {
                    Some(number) => return Ok(number),
                    None => continue,
                },
                Ok(Ok(Err(error))) => error,
                Ok(Err(_)) => Error::new(
                    SERVER_UNAVAILABLE,
                    "the request was broken off: its runtime ends, or it panicked",
                ),
                Err(_) => Error::late(self.name(), within),
            };
            patience.again(error).await?;
        }
    }

    fn merged(&self) -> &Merged {
        self.shared.fresh.get_or_init(|| {
            let ground = self.client.ground();
            let (scope, highest) = (self.shared.scope.clone(), Arc::clone(&self.shared.highest));
            let (merged, driver) = merged(scope, highest, Arc::clone(&ground.endpoints));
            ground.runtime.spawn(driver);
            merged
        })
    }

    /// How long each take may wait.
    pub(crate) fn patience_for(&self) -> Duration {
        self.deadline
    }

    pub(crate) fn endpoints(&self) -> &Endpoints {
        &self.client.ground().endpoints
    }

    pub(crate) fn texts(&self) -> &Texts {
        &self.shared.texts
    }

    pub(crate) fn ground(&self) -> &Ground {
        self.client.ground()
    }

    pub(crate) fn late(&self) -> Error {
        Error::late(self.name(), self.deadline)
    }

    pub(crate) fn failed(&self, error: TakeError) -> Error {
        Error::of(error, self.name(), self.deadline)
    }

    pub(crate) fn scope(&self) -> &Scope {
        self.shared.scope()
    }

    pub(crate) fn highest(&self) -> &Highest {
        &self.shared.highest
    }

    /// Whether there are no leases of it: a server has just said so, or before. The reservoir is closed then, so that
    /// nobody asks for one again.
    fn is_dense(&self, error: &TakeError) -> bool {
        if Error::beneath_take(error).is_some_and(|error| error.says_dense()) {
            self.shared.is_dense.store(true, Ordering::Relaxed);
            self.reservoir.close();
        }
        self.shared.is_dense.load(Ordering::Relaxed)
    }

    pub(crate) fn patience(&self) -> Patience<'_> {
        let nature = &self.client.ground().nature;
        Patience::new(&*nature.timers, &*nature.entropy, self.deadline)
    }

    async fn again(&self, patience: &mut Patience<'_>, error: TakeError) -> Result<(), Error> {
        patience.again(Error::of(error, self.name(), self.deadline)).await
    }
}

impl std::fmt::Debug for Sequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sequence")
            .field("name", &self.name())
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
