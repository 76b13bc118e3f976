//! Failover among the endpoints of one service: one is used at a time, under the same health rules as slots.

mod call;
mod check_loop;
pub(crate) mod outcome;
mod state;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use sequent_core::{BoxFuture, Env, Reply, SlotFailure, SlotIndex};

use self::{call::Call, outcome::Outcome, state::State};
use crate::{config::RingConfig, status::SlotStatus};

/// Endpoints of one service. All serve the same, so one is used until it fails; then calls go to another at once.
///
/// The health rules are those of the ring's slots. Errors and slowness evict an endpoint; after a wait with jitter and
/// doubling, probation brings it back. The last endpoint that answers at all is kept. If none is left, all are tried, at
/// most ten times a second.
///
/// The ring probes a slot with a real take. Here an endpoint is checked instead, so that a probe costs no number.
///
/// ```
/// use sequent_core::Env;
/// use sequent_ha::{Failover, Outcome, RingConfig};
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let endpoints = Failover::new(2, RingConfig::default(), Env::default());
/// let found = endpoints.call(|endpoint| Box::pin(async move { Outcome::Answer(endpoint < 2) })).await;
/// assert!(found.unwrap());
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Failover {
    state: Arc<State>,
}

impl Failover {
    /// A failover of this many endpoints, all live. The first one to be asked is random, so that clients spread over
    /// them.
    pub fn new(endpoints: SlotIndex, config: RingConfig, env: Env) -> Arc<Self> {
        Arc::new(Self { state: Arc::new(State::new(endpoints, config, env)) })
    }

    /// Asks endpoints until one has answered.
    ///
    /// If one fails, the next is asked. If none has answered within `slow_after`, one more is asked. Each is asked at most
    /// once, in a task of its own, for at most `attempt_timeout`.
    ///
    /// If none answers, the call returns the last [`Outcome::TryNext`], or else each endpoint with its failure.
    pub async fn call<T: Send + 'static>(
        &self,
        request: impl Fn(SlotIndex) -> BoxFuture<'static, Outcome<T>>,
    ) -> Result<T, Vec<SlotFailure>> {
        Call::new(&self.state, request).run().await
    }

    /// Every endpoint, ascending.
    pub fn status(&self) -> Vec<SlotStatus> {
        self.state.membership.status()
    }

    /// The loop that checks endpoints that are out, so that they come back without callers. To be spawned once; it ends
    /// with the failover.
    pub fn run<C>(self: &Arc<Self>, check: C) -> impl Future<Output = ()> + Send + use<C>
    where
        C: Fn(SlotIndex) -> Reply<'static, ()> + Send + 'static,
    {
        let check: check_loop::Check = Box::new(check);
        check_loop::run(Arc::downgrade(&self.state), self.state.membership.changed(), check)
    }
}

impl fmt::Debug for Failover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failover").field("endpoints", &self.status()).finish_non_exhaustive()
    }
}
