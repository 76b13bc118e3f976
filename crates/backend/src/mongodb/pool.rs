//! A few connections: idle on a shelf, or on loan to a verb. One that was dropped midway never comes back.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sequent_core::{ErrorKind, Incarnation};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{fault::Fault, link::Link};

/// The connections of one store in this process.
pub(super) struct Pool {
    permits: Semaphore,
    shelf: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    idle: Vec<(Link, Instant)>,
    /// One more whenever those before are in doubt: a connection of an older one is not put back.
    generation: u64,
    /// Who spoke on the connection opened last.
    speaks: Option<Incarnation>,
}

impl Pool {
    pub(super) fn new(size: usize) -> Self {
        Self { permits: Semaphore::new(size), shelf: Mutex::default() }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the collections were connected to before.
    pub(super) fn used(&self) -> bool {
        self.shelf().speaks.is_some()
    }

    /// A place among the connections, once one is free.
    pub(super) async fn place(&self) -> Result<Place<'_>, Fault> {
        let closed = |_| Fault::broken(ErrorKind::Unavailable, "the pool is closed");
        let permit = self.permits.acquire().await.map_err(closed)?;
        Ok(Place { pool: self, _permit: permit })
    }

    /// Every connection is in doubt: the idle ones are closed, and those on loan will be.
    pub(super) fn renew(&self) {
        let idle = {
            let mut held = self.shelf();
            held.generation += 1;
            std::mem::take(&mut held.idle)
        };
        drop(idle);
    }
}

/// The right to hold one connection.
pub(super) struct Place<'a> {
    pool: &'a Pool,
    _permit: SemaphorePermit<'a>,
}

impl<'a> Place<'a> {
    /// The connection that was used last, and for how long it has lain idle.
    pub(super) fn idle(self, now: Instant) -> Result<(Loan<'a>, Duration), Self> {
        let mut held = self.pool.shelf();
        let (found, generation) = (held.idle.pop(), held.generation);
        drop(held);
        let Some((link, since)) = found else { return Err(self) };
        let loan = Loan { link: Some(link), generation, place: self };
        Ok((loan, now.saturating_duration_since(since)))
    }

    /// Lends a connection that was opened just now. If somebody else speaks there, all before are out of date.
    pub(super) fn fresh(self, link: Link) -> Loan<'a> {
        let other = self.pool.shelf().speaks.as_ref() != Some(link.incarnation());
        if other {
            self.pool.renew();
        }
        let generation = {
            let mut held = self.pool.shelf();
            held.speaks = Some(link.incarnation().clone());
            held.generation
        };
        Loan { link: Some(link), generation, place: self }
    }
}

/// A connection while a verb has it. Dropped before it is given back, it is closed: a reply may be on its way. And the
/// idle ones with it: where one did not answer, the others will not either.
pub(super) struct Loan<'a> {
    link: Option<Link>,
    generation: u64,
    place: Place<'a>,
}

impl Loan<'_> {
    pub(super) fn link(&self) -> Result<&Link, Fault> {
        self.link.as_ref().ok_or_else(|| Fault::broken(ErrorKind::Unavailable, "no connection"))
    }

    /// Puts the connection back on the shelf: everything that was asked on it has been answered.
    pub(super) fn give_back(mut self, now: Instant) {
        let mut held = self.place.pool.shelf();
        if held.generation == self.generation
            && let Some(link) = self.link.take()
        {
            held.idle.push((link, now));
        }
        drop(held);
        // One of an older generation is closed, and casts no doubt on others.
        self.link = None;
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if let Some(link) = self.link.take() {
            drop(link);
            self.place.pool.renew();
        }
    }
}
