//! Members that are not slots: endpoints of one service, used one at a time under the same health rules.

mod call;
mod probe;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_core::{BoxFuture, Env, SlotFailure, SlotIndex, SourceError};

use self::call::Call;
use crate::{RingConfig, SlotStatus, lock, roster::Roster};

/// While no member is live, all are tried together at most this often, whoever calls: often enough that a call with a
/// deadline finds the one that is back, and nothing to one that is not.
///
/// More often than a ring does: to ask an endpoint costs no number, and a ring's callers have a reserve meanwhile.
const TRY_ALL_EVERY: Duration = Duration::from_millis(100);

/// What one member said.
#[derive(Debug)]
pub enum Said<T> {
    /// An answer, good or bad: the call ends with it.
    Answer(T),
    /// The member is not at fault, and another may know better; what to return if none does.
    Pass(T),
    /// The member's own fault, held against its health by the error's verdict.
    Fault(SourceError),
}

/// Endpoints of one service. All serve the same, so one is used until it fails; its calls then go to another at once.
///
/// The rules are those of the ring's slots: errors and slowness evict, timed rescue with jitter and doubling brings back
/// through probation, the last one that answers at all is kept, and where none is left all are tried, at most ten times a
/// second. Where the ring probes with a real take, a member here is checked, so that a probe costs no number.
///
/// ```
/// use sequent_core::Env;
/// use sequent_ha::{Failover, RingConfig, Said};
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let endpoints = Failover::new(2, RingConfig::default(), Env::default());
/// let found = endpoints.call(|member| Box::pin(async move { Said::Answer(member < 2) })).await;
/// assert!(found.unwrap());
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Failover {
    roster: Arc<Roster>,
    members: SlotIndex,
    /// Who is asked first.
    current: AtomicU16,
    tried_all: Mutex<Option<Instant>>,
}

impl Failover {
    /// So many members, all live. Which one is asked first is left to chance, so that many clients spread over them.
    pub fn new(members: SlotIndex, config: RingConfig, env: Env) -> Arc<Self> {
        let first = env.entropy.bits().checked_rem(u64::from(members)).unwrap_or(0);
        let roster = Arc::new(Roster::new(config, env, &vec![true; usize::from(members)]));
        let current = AtomicU16::new(SlotIndex::try_from(first).unwrap_or(0));
        Arc::new(Self { roster, members, current, tried_all: Mutex::default() })
    }

    /// Asks members until one has answered: the next one where one failed, and one more where none has answered within
    /// `slow_after`. Each is asked at most once, in a task of its own, for at most `attempt_timeout`.
    ///
    /// Where none answered: what the last of those said that passed, or each member with its failure.
    pub async fn call<T: Send + 'static>(
        &self,
        ask: impl Fn(SlotIndex) -> BoxFuture<'static, Said<T>>,
    ) -> Result<T, Vec<SlotFailure>> {
        Call::new(self, ask).run().await
    }

    /// Every member, ascending.
    pub fn status(&self) -> Vec<SlotStatus> {
        self.roster.status()
    }

    /// What rescues members that nobody asks, by checking them. To be spawned once; ends with the failover.
    pub fn run<C>(self: &Arc<Self>, check: C) -> impl Future<Output = ()> + Send + use<C>
    where
        C: Fn(SlotIndex) -> BoxFuture<'static, Result<(), SourceError>> + Send + 'static,
    {
        let check: probe::Check = Box::new(check);
        probe::run(Arc::downgrade(self), self.roster.changed(), check)
    }

    /// Whether it is time to try all members together; if so, the next time is a while off.
    fn may_try_all(&self) -> bool {
        let now = self.roster.env().clock.now();
        let mut tried_all = lock(&self.tried_all);
        let free = tried_all.is_none_or(|at| now.saturating_duration_since(at) >= TRY_ALL_EVERY);
        if free {
            *tried_all = Some(now);
        }
        free
    }

    fn current(&self) -> SlotIndex {
        self.current.load(Ordering::Relaxed)
    }

    fn prefer(&self, member: SlotIndex) {
        if self.current() != member {
            self.current.store(member, Ordering::Relaxed);
        }
    }
}

impl Drop for Failover {
    fn drop(&mut self) {
        self.roster.changed().notify_one();
    }
}

impl fmt::Debug for Failover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failover").field("members", &self.status()).finish_non_exhaustive()
    }
}
