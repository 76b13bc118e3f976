//! Calls that wait for numbers until the deadline: on the lease, or on servers for a dense sequence.

use std::sync::{Arc, atomic::Ordering};

use sequent_buffer::{Empty, TakeError};
use tokio::time::timeout;

use crate::{
    error::{Error, SERVER_UNAVAILABLE},
    lease::grant::PendingNumber,
    number::Number,
    retry_deadline::RetryDeadline,
    sequence::{
        Sequence,
        unbuffered::{UnbufferedQueue, unbuffered_queue},
    },
    telemetry::client_metrics,
};

/// Limit on numbers of [`Sequence::next_many`].
const MANY_MAX: usize = 1_000_000;

/// How many numbers [`Sequence::ready`] waits for.
const READY: u64 = 64;

impl Sequence {
    /// Continues after a draw that found no number.
    pub(crate) async fn wait(&self, empty: Empty) -> Result<Number, Error> {
        let outcome = self.wait_on(empty).await;
        outcome.inspect_err(client_metrics::failed)
    }

    async fn wait_on(&self, empty: Empty) -> Result<Number, Error> {
        let mut retry = self.retry_deadline();
        let mut taken = self.reservoir.wait(empty, retry.end()).await;
        loop {
            match taken.map(Number::of) {
                Ok(Some(number)) => return Ok(number),
                Ok(None) => {}
                Err(error) if self.is_dense(&error) => {
                    return self.unbuffered().await.inspect(|_| client_metrics::issued("fresh", 1));
                }
                Err(error) => self.pause_or_fail(&mut retry, error).await?,
            }
            taken = self.reservoir.next(retry.end()).await;
        }
    }

    /// Waits for a first lease.
    pub(super) async fn first(&self) -> Result<(), Error> {
        let mut retry = self.retry_deadline();
        loop {
            match self.reservoir.prefetch(READY, retry.end()).await {
                Ok(()) => return Ok(()),
                // A dense sequence has no leases, so there is nothing to wait for.
                Err(error) if self.is_dense(&error) => return Ok(()),
                Err(error) => self.pause_or_fail(&mut retry, error).await?,
            }
        }
    }

    /// Takes `count` numbers of the lease, or by one request from a dense sequence.
    pub(super) async fn many(&self, count: usize) -> Result<Vec<Number>, Error> {
        if count == 0 || count > MANY_MAX {
            return Err(Error::field("count", count, format!("1 to {MANY_MAX} are allowed")));
        }
        let mut retry = self.retry_deadline();
        let want = u64::try_from(count).unwrap_or(u64::MAX);
        loop {
            match self.reservoir.take(want, retry.end()).await {
                Ok(blocks) => return Ok(blocks.numbers().filter_map(Number::of).collect()),
                Err(error) if self.is_dense(&error) => {
                    return self
                        .next_batch(u32::try_from(want).unwrap_or(u32::MAX))
                        .await
                        .map(|it| it.numbers);
                }
                Err(error) => self.pause_or_fail(&mut retry, error).await?,
            }
        }
    }

    /// Takes one number without a lease. Concurrent callers share one request.
    pub(super) async fn unbuffered(&self) -> Result<Number, Error> {
        let mut retry = self.retry_deadline();
        loop {
            // Dropped with this call. The queue then skips a caller that is gone.
            let caller = Arc::new(());
            let ask = self.unbuffered_queue().ask(Arc::downgrade(&caller));
            let answer = timeout(retry.remaining(), ask).await;
            let error = match answer {
                Ok(Ok(Ok(number))) => match PendingNumber::accept(number) {
                    Some(number) => return Ok(number),
                    None => continue,
                },
                Ok(Ok(Err(error))) => error,
                Ok(Err(_)) => Error::new(
                    SERVER_UNAVAILABLE,
                    "the request was broken off: its runtime ends, or it panicked",
                ),
                Err(_) => self.late(),
            };
            retry.pause_or_fail(error).await?;
        }
    }

    /// Queue of the unbuffered callers. The first one starts it.
    fn unbuffered_queue(&self) -> &UnbufferedQueue {
        self.shared.unbuffered.get_or_init(|| {
            let state = self.client.state();
            let (scope, high_water) = (self.shared.scope.clone(), Arc::clone(&self.shared.high_water));
            let (unbuffered_queue, driver) =
                unbuffered_queue(scope, high_water, Arc::clone(&state.endpoints));
            state.runtime.spawn(driver);
            unbuffered_queue
        })
    }

    /// Whether the sequence is dense, as a server has reported now or before. The reservoir is then closed, so that
    /// no lease is requested again.
    fn is_dense(&self, error: &TakeError) -> bool {
        if Error::of_reservoir(error).is_some_and(|error| error.says_dense()) {
            self.shared.is_dense.store(true, Ordering::Relaxed);
            self.reservoir.close();
        }
        self.shared.is_dense.load(Ordering::Relaxed)
    }

    /// Deadline of a call that starts now.
    pub(crate) fn retry_deadline(&self) -> RetryDeadline<'_> {
        let environment = &self.client.state().environment;
        RetryDeadline::new(&*environment.timers, &*environment.entropy, self.deadline)
    }

    /// Pauses before the next attempt, within the deadline.
    async fn pause_or_fail(&self, retry: &mut RetryDeadline<'_>, error: TakeError) -> Result<(), Error> {
        retry.pause_or_fail(self.failed(error)).await
    }
}
