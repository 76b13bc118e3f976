//! Refills: when one is due, the task that asks the source, and what becomes of its outcome.

use std::{future::Future, sync::Arc, time::Duration};

use sequent_core::{Blocks, ErrorKind, SourceError};

use super::Locked;
use crate::{
    discard_reason::CLOSED_DURING_REFILL, error::TakeError, expiring_block::ExpiringBlock, shared::Shared,
};

/// With this many queued blocks nothing is prefetched: the blocks would need more memory than their numbers are worth.
const BLOCKS_MAX: usize = 4096;

impl Locked<'_> {
    /// Serves waiters, opens the next range, and spawns a refill if one is due.
    pub(crate) fn finish(self) {
        let shared = self.shared;
        if let Some(want) = self.conclude()
            && let Some(this) = shared.this.upgrade()
        {
            (shared.context.spawn)(Box::pin(run(this, want)));
        }
    }

    /// Serves waiters, decides on a refill, opens the next range. Returns how much the refill is to ask for.
    fn conclude(mut self) -> Option<u64> {
        self.serve_waiters();
        let want = self.due_refill();
        self.open_range();
        self.unlock();
        want
    }

    /// How much to ask for now, unless a refill is in flight.
    fn due_refill(&mut self) -> Option<u64> {
        self.observe();
        let Self { shared, state, now, .. } = self;
        if state.refilling || state.closed {
            return None;
        }
        let at_risk_max = shared.context.config.at_risk_max;
        let demand = state.demand(&shared.tickets, at_risk_max, shared.source.0.remaining());
        let want = state.policy.refill_size(*now, demand, &shared.context.effective_config());
        let too_many_blocks = state.blocks.len() >= BLOCKS_MAX && demand.waiting <= demand.held;
        if want == 0 || too_many_blocks {
            return None;
        }
        state.refilling = true;
        Some(want)
    }

    /// A refill has ended. Returns how much the same task is to ask for next.
    fn refill_done(mut self, outcome: Result<Blocks, SourceError>, took: Duration) -> Option<u64> {
        self.state.refilling = false;
        self.state.try_failed = false;
        match outcome {
            Ok(blocks) if blocks.is_empty() => {
                let error = SourceError::new(ErrorKind::Unavailable, "the source gave no number");
                return self.refill_done(Err(error), took);
            }
            Ok(blocks) => self.store(blocks, took),
            Err(error) => {
                // No retry here: a source that fails at once would be asked in a loop. The next caller asks again.
                self.fail_waiters(&error);
                self.open_range();
                self.unlock();
                return None;
            }
        }
        self.conclude()
    }

    fn store(&mut self, blocks: Blocks, took: Duration) {
        let (count, expires_at) = (blocks.count(), blocks.expiry());
        if self.state.closed {
            return self.discard(count, CLOSED_DURING_REFILL);
        }
        let state = &mut **self.state;
        state.policy.refill_succeeded(self.now, count, took);
        state.counts.refills += 1;
        state.counts.last_error = None;
        for numbers in blocks {
            state.blocks.push_back(ExpiringBlock { numbers, expires_at });
        }
    }

    /// Serves the waiters for whom enough is held. All others fail with `error`.
    fn fail_waiters(&mut self, error: &SourceError) {
        self.state.policy.refill_failed();
        self.state.counts.refills_failed += 1;
        self.state.counts.last_error = Some(error.clone());
        self.expire();
        while !self.state.waiters.is_empty() {
            self.serve_waiters();
            let waker = self.state.waiters.answer_first(Err(TakeError::Source(error.clone())));
            self.wakers.extend(waker);
        }
    }
}

/// Asks the source until the refill policy is satisfied or the source fails.
///
/// The guard is created before the first poll: a runtime that is shutting down drops the task without polling it.
fn run(shared: Arc<Shared>, want: u64) -> impl Future<Output = ()> + Send {
    ask_source(TaskGuard(Some(shared)), want)
}

async fn ask_source(guard: TaskGuard, want: u64) {
    let mut next = Some(want);
    while let (Some(want), Some(shared)) = (next, &guard.0) {
        let clock = &shared.context.env.clock;
        let began = clock.now();
        let outcome = shared.source.0.take(want).await;
        let took = clock.now().saturating_duration_since(began);
        next = Locked::lock(shared).refill_done(outcome, took);
        if next.is_some() {
            // A source that answers at once must not keep other tasks from running.
            tokio::task::yield_now().await;
        }
    }
    guard.disarm();
}

/// Fails the waiters if the task ends early: dropped with its runtime, or by a panic of the source.
struct TaskGuard(Option<Arc<Shared>>);

impl TaskGuard {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            let error = SourceError::new(ErrorKind::Unavailable, "the refill was cut off");
            // The result is `None`: after a failure the task asks for nothing more.
            Locked::lock(&shared).refill_done(Err(error), Duration::ZERO);
        }
    }
}
