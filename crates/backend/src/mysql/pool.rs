//! The connections of one store or ledger: bounded, lent to one verb at a time, and given up whenever in doubt.
//!
//! A connection comes back only after its verb has come to an end. One on which a verb was dropped midway, or failed with
//! more than an answer, is closed and never used again: its reply must not reach the next caller.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sequent_core::{ErrorKind, Incarnation, SourceError};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{
    fault::Fault,
    link::{Link, reborn},
    options::{CONNECTIONS_MAX, MysqlOptions},
    schema::Schema,
    work::attempt,
};
use crate::sql::Work;

/// How often a verb that was undone for others' sake is run again.
const TRIES_MAX: usize = 8;

/// The longest pause before it is; the real one is random up to this, so that equals do not meet again.
const PAUSE_MAX: Duration = Duration::from_millis(4);

/// A connection that was idle for longer is asked whether anybody answers before it is used: servers, and what stands
/// between, close idle ones.
const TRUST_IDLE_MAX: Duration = Duration::from_secs(1);

/// The connections to one database.
pub(super) struct Pool {
    options: MysqlOptions,
    schema: &'static Schema,
    seats: Semaphore,
    unused: Mutex<Shelf>,
}

/// Connections that nobody uses now.
#[derive(Default)]
struct Shelf {
    idle: Vec<Link>,
    /// Who spoke on the connection that was opened last.
    speaks: Option<Incarnation>,
}

impl Pool {
    pub(super) fn new(options: MysqlOptions, schema: &'static Schema) -> Self {
        let seats = Semaphore::new(options.connections_max.clamp(1, CONNECTIONS_MAX));
        Self { options, schema, seats, unused: Mutex::default() }
    }

    pub(super) fn options(&self) -> &MysqlOptions {
        &self.options
    }

    pub(super) fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// Runs a verb, on a connection of the incarnation that it names.
    pub(super) async fn perform<W: Work<Link>>(&self, work: W) -> Result<W::Out, SourceError> {
        let verb = work.verb();
        let done = self.attempts(&work).await;
        let place = || format!("{} {} {}", verb, self.schema.word, self.options.address());
        done.map_err(|fault| {
            let fault = if self.is_known() { fault.of_one_known() } else { fault };
            fault.into_error(&place())
        })
    }

    /// Runs what only reads on a connection of its own, on which nothing can be changed.
    pub(super) async fn look<W: Work<Link>>(&self, work: W) -> Result<W::Out, SourceError> {
        let verb = work.verb();
        let looked = async {
            let mut link = Link::look(&self.options, self.schema).await?;
            let found = attempt(&mut link, &work).await?;
            link.close().await;
            Ok(found)
        };
        let place = || format!("{} {} {}", verb, self.schema.word, self.options.address());
        looked.await.map_err(|fault: Fault| fault.into_error(&place()))
    }

    /// Runs a verb if there is a connection to run it on.
    pub(super) async fn perform_if_connected<W: Work<Link>>(
        &self,
        work: W,
    ) -> Result<Option<W::Out>, SourceError> {
        if self.is_known() { self.perform(work).await.map(Some) } else { Ok(None) }
    }

    /// Closes the connections that nobody uses; the next verb opens another.
    pub(super) async fn close(&self) {
        for link in self.clear() {
            link.close().await;
        }
    }

    async fn attempts<W: Work<Link>>(&self, work: &W) -> Result<W::Out, Fault> {
        let mut loan = self.lend(work.under(), W::LOOKS_AGAIN).await?;
        let mut tries = 0;
        loop {
            tries += 1;
            match attempt(loan.link()?, work).await {
                Err(Fault::Busy(_)) if tries < TRIES_MAX => self.pause().await,
                done @ (Ok(_) | Err(Fault::Answer(_) | Fault::Busy(_))) => {
                    loan.give_back();
                    return done;
                }
                Err(fault) => {
                    // The others may have lost the same server; each would fail once more.
                    drop(self.clear());
                    return Err(fault);
                }
            }
        }
    }

    /// A connection on which `under` speaks, or whoever does.
    async fn lend(&self, under: Option<&Incarnation>, look: bool) -> Result<Loan<'_>, Fault> {
        let closed = |_| Fault::broken(ErrorKind::Unavailable, "the pool is closed");
        let seat = self.seats.acquire().await.map_err(closed)?;
        let since = self.options.clock.now();
        let mut loan = Loan { pool: self, link: self.take_idle(), since, _seat: seat };
        if let Some(link) = &mut loan.link
            && !self.is_sound(link, look).await
        {
            loan.link = None;
            drop(self.clear());
        }
        if loan.link.is_none() {
            loan.link = Some(self.open().await?);
        }
        let speaks = loan.link()?.incarnation();
        match under {
            Some(under) if under != speaks => {
                let error = reborn(under, speaks);
                loan.give_back();
                Err(error.into())
            }
            _ => Ok(loan),
        }
    }

    /// An idle connection of the incarnation that spoke last.
    fn take_idle(&self) -> Option<Link> {
        self.shelf().idle.pop()
    }

    async fn is_sound(&self, link: &mut Link, look: bool) -> bool {
        let idle = self.options.clock.now().saturating_duration_since(link.idle_since);
        if look {
            return link.speaks_still(self.schema).await.unwrap_or(false);
        }
        idle <= TRUST_IDLE_MAX || link.ping().await.is_ok()
    }

    async fn open(&self) -> Result<Link, Fault> {
        // Tables that go away under a process are not made again: empty ones would pass for a new cluster's.
        let create = self.options.create && !self.is_known();
        let link = Link::open(&self.options, self.schema, create).await?;
        let mut kept = self.shelf();
        if kept.speaks.as_ref() != Some(link.incarnation()) {
            kept.idle.clear();
            kept.speaks = Some(link.incarnation().clone());
        }
        Ok(link)
    }

    async fn pause(&self) {
        tokio::time::sleep(PAUSE_MAX.mul_f64(self.options.entropy.fraction())).await;
    }

    /// Whether the server has let this process in before.
    fn is_known(&self) -> bool {
        self.shelf().speaks.is_some()
    }

    fn clear(&self) -> Vec<Link> {
        std::mem::take(&mut self.shelf().idle)
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection while a verb has it. Dropped before it is given back, it is closed, and so are those that were idle all the
/// while: where a server fell silent, or the network forgot its lines, each of them would cost another caller its time.
struct Loan<'a> {
    pool: &'a Pool,
    link: Option<Link>,
    since: Instant,
    _seat: SemaphorePermit<'a>,
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if self.link.is_some() {
            let silent = |link: &mut Link| link.idle_since < self.since;
            let gone: Vec<Link> = self.pool.shelf().idle.extract_if(.., silent).collect();
            drop(gone);
        }
    }
}

impl Loan<'_> {
    fn link(&mut self) -> Result<&mut Link, Fault> {
        self.link.as_mut().ok_or_else(|| Fault::broken(ErrorKind::Unavailable, "no connection"))
    }

    /// Puts it back, if who spoke last speaks on it.
    fn give_back(mut self) {
        let Some(mut link) = self.link.take() else { return };
        link.idle_since = self.pool.options.clock.now();
        let mut kept = self.pool.shelf();
        if kept.speaks.as_ref() == Some(link.incarnation()) {
            kept.idle.push(link);
        }
    }
}
