//! The connections of one store: bounded, lent to one verb at a time, and given up whenever in doubt.
//!
//! A connection comes back only after its verb has come to an end. One on which a verb was dropped midway, or failed with
//! more than an answer, is closed, and the idle ones with it: its reply must not reach the next caller, and where one
//! did not answer the others will not either.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_core::{Clock, Incarnation, SourceError};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use super::fault::Fault;

/// A connection that was idle for longer is asked whether anybody answers before it is used.
const TRUST_IDLE_MAX: Duration = Duration::from_secs(1);

/// How often a verb is tried on another connection, where somebody else spoke on the one before.
const ROUNDS_MAX: usize = 4;

/// A connection, opened, and known by who speaks on it.
pub(crate) trait Line: Sized + Send {
    /// Where it leads, and as whom.
    type Target: Send + Sync;

    /// Connects, logs in, and learns who speaks.
    fn open(target: &Self::Target) -> impl Future<Output = Result<Self, Fault>> + Send;

    /// The same, to look: nothing is written. Who speaks is known to others only where one of them has connected to the
    /// same data.
    fn look(target: &Self::Target) -> impl Future<Output = Result<Self, Fault>> + Send;

    /// Who speaks, as learned at the opening.
    fn incarnation(&self) -> &Incarnation;

    /// Another verb is to be run on it.
    fn begin(&mut self) {}

    /// Whether anybody answers.
    fn ping(&mut self) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// A verb, made so that it can be run again: after `Stale` it has done nothing.
pub(crate) trait Work<L>: Sync {
    /// What it returns.
    type Out: Send;
    /// Its name, for errors, where it has one.
    const VERB: &'static str = "";

    /// Its name, for errors.
    fn verb(&self) -> &'static str {
        Self::VERB
    }

    /// The incarnation under which alone it may run; `None` where it finds that out itself.
    fn under(&self) -> Option<&Incarnation> {
        None
    }

    /// Runs it once.
    fn run(&self, line: &mut L) -> impl Future<Output = Result<Self::Out, Fault>> + Send;
}

/// How much of a server is used.
pub(crate) struct Limits {
    /// Connections at once.
    pub(crate) connections_max: usize,
    /// For how long one may take to be opened.
    pub(crate) connect: Duration,
    /// For the age of idle connections.
    pub(crate) clock: Arc<dyn Clock>,
}

/// The connections to one server.
pub(crate) struct Pool<L: Line> {
    target: L::Target,
    limits: Limits,
    /// Where they lead, for errors.
    shown: String,
    seats: Semaphore,
    shelf: Mutex<Shelf<L>>,
    /// The server has let this process in before.
    known: AtomicBool,
}

/// Connections that nobody uses now.
struct Shelf<L> {
    idle: Vec<(L, Instant)>,
    /// One more whenever those before are in doubt: a connection of an older one is not put back.
    generation: u64,
}

impl<L: Line> Pool<L> {
    pub(crate) fn new(target: L::Target, limits: Limits, shown: String) -> Self {
        let (seats, shelf) =
            (Semaphore::new(limits.connections_max.max(1)), Shelf { idle: Vec::new(), generation: 0 });
        Self { target, limits, shown, seats, shelf: Mutex::new(shelf), known: AtomicBool::new(false) }
    }

    pub(crate) fn target(&self) -> &L::Target {
        &self.target
    }

    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Runs a verb, on a connection of the incarnation that it names.
    pub(crate) async fn perform<W: Work<L>>(&self, work: W) -> Result<W::Out, SourceError> {
        let verb = work.verb();
        let mut rounds = 1;
        let done = loop {
            match self.once(&work).await {
                Err(Fault::Stale(_)) if rounds < ROUNDS_MAX => rounds += 1,
                done => break done,
            }
        };
        done.map_err(|fault| {
            let known = self.known.load(Ordering::Relaxed);
            let fault = if known { fault.of_one_known() } else { fault };
            fault.into_error(&format!("{verb} {}", self.shown))
        })
    }

    /// Runs what only reads on a connection of its own, opened to look.
    pub(crate) async fn look<W: Work<L>>(&self, work: W) -> Result<W::Out, SourceError> {
        let verb = work.verb();
        let looked = async {
            let mut line = within(self.limits.connect, L::look(&self.target)).await?;
            work.run(&mut line).await
        };
        looked.await.map_err(|fault: Fault| fault.into_error(&format!("{verb} {}", self.shown)))
    }

    /// Closes the idle connections, and those on loan as they come back; the next verb opens another.
    pub(crate) fn renew(&self) {
        let idle = {
            let mut held = self.shelf();
            held.generation += 1;
            std::mem::take(&mut held.idle)
        };
        drop(idle);
    }

    async fn once<W: Work<L>>(&self, work: &W) -> Result<W::Out, Fault> {
        let mut loan = self.lend().await?;
        let line = loan.line()?;
        line.begin();
        let done = match work.under() {
            Some(under) if under != line.incarnation() => Err(Fault::reborn(under, line.incarnation())),
            _ => work.run(line).await,
        };
        if matches!(done, Ok(_) | Err(Fault::Answer(_))) {
            loan.give_back();
        }
        done
    }

    /// A connection that lives: the one used last, or a new one.
    async fn lend(&self) -> Result<Loan<'_, L>, Fault> {
        let seat = self.seats.acquire().await.map_err(|_| Fault::away("the pool is closed"))?;
        let (found, generation) = {
            let mut held = self.shelf();
            (held.idle.pop(), held.generation)
        };
        let mut loan = Loan { pool: self, line: None, generation, _seat: seat };
        if let Some((line, since)) = found {
            let idle = self.limits.clock.now().saturating_duration_since(since);
            let line = loan.line.insert(line);
            if idle <= TRUST_IDLE_MAX || line.ping().await.is_ok() {
                return Ok(loan);
            }
            loan.line = None;
            self.renew();
        }
        loan.line = Some(self.open(&mut loan.generation).await?);
        Ok(loan)
    }

    async fn open(&self, generation: &mut u64) -> Result<L, Fault> {
        *generation = self.shelf().generation;
        let line = within(self.limits.connect, L::open(&self.target)).await?;
        self.known.store(true, Ordering::Relaxed);
        let elsewhere = |idle: &[(L, Instant)]| {
            idle.last().is_some_and(|(other, _)| other.incarnation() != line.incarnation())
        };
        let replaced = elsewhere(&self.shelf().idle);
        if replaced {
            // Those before lead to somebody who does not speak any more.
            self.renew();
            *generation = self.shelf().generation;
        }
        Ok(line)
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf<L>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection while a verb has it.
struct Loan<'a, L: Line> {
    pool: &'a Pool<L>,
    line: Option<L>,
    generation: u64,
    _seat: SemaphorePermit<'a>,
}

impl<L: Line> Loan<'_, L> {
    fn line(&mut self) -> Result<&mut L, Fault> {
        self.line.as_mut().ok_or_else(|| Fault::away("no connection"))
    }

    /// Puts the connection back: everything that was asked on it has been answered.
    fn give_back(mut self) {
        let now = self.pool.limits.clock.now();
        let Some(line) = self.line.take() else { return };
        let mut held = self.pool.shelf();
        if held.generation == self.generation {
            held.idle.push((line, now));
        }
    }
}

impl<L: Line> Drop for Loan<'_, L> {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            drop(line);
            self.pool.renew();
        }
    }
}

/// Connecting, within its limit.
async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let late = |_| Fault::away(format!("not connected within {} ms", limit.as_millis()));
    timeout(limit, work).await.map_err(late)?
}
