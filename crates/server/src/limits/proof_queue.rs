//! Queue of proofs: calls that analyze a template. It shares no bound with requests for numbers.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use sequent_engine::Reason;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use crate::{
    error::ApiError,
    limits::{PROOFS_MAX, PROOFS_OF_CONNECTION_MAX, PROOFS_WAITING_MAX, pending_quota::ConnectionShare},
};

/// Proofs of all connections. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ProofQueue {
    running: Arc<Semaphore>,
    /// How many run or wait.
    all: Arc<AtomicUsize>,
}

/// Permit of one proof. A caller that leaves the queue drops it.
#[derive(Debug)]
pub(crate) struct ProofPermit {
    /// Returned before the place, so that the next one in the queue begins first.
    _running: OwnedSemaphorePermit,
    _place: Place,
}

/// Place in the queue, of the server and of one connection.
#[derive(Debug)]
struct Place {
    all: Arc<AtomicUsize>,
    share: Arc<ConnectionShare>,
}

impl Default for ProofQueue {
    fn default() -> Self {
        Self { running: Arc::new(Semaphore::new(PROOFS_MAX)), all: Arc::default() }
    }
}

impl ProofQueue {
    /// Waits until a proof may run, at most until the deadline. Fails at once if the queue is full, or if the
    /// connection has its share of it.
    pub(crate) async fn turn(
        &self,
        share: &Arc<ConnectionShare>,
        deadline: Instant,
    ) -> Result<ProofPermit, ApiError> {
        let place = self.place(share)?;
        let late =
            |_| ApiError::new(Reason::DeadlineExceeded, "the templates of others took all of the time");
        let running = Arc::clone(&self.running).acquire_owned();
        let running = timeout_at(deadline, running).await.map_err(late)?;
        let stopping = |_| ApiError::new(Reason::Draining, "this server is stopping");
        Ok(ProofPermit { _running: running.map_err(stopping)?, _place: place })
    }

    fn place(&self, share: &Arc<ConnectionShare>) -> Result<Place, ApiError> {
        // Counted before the check, and dropped with its error.
        let place = Place { all: Arc::clone(&self.all), share: Arc::clone(share) };
        let all = self.all.fetch_add(1, Ordering::Relaxed);
        let own = share.proofs.fetch_add(1, Ordering::Relaxed);
        let bound = if own >= PROOFS_OF_CONNECTION_MAX {
            format!("{PROOFS_OF_CONNECTION_MAX} templates of one connection")
        } else if all >= PROOFS_MAX + PROOFS_WAITING_MAX {
            format!("{PROOFS_WAITING_MAX} templates beside those in work")
        } else {
            return Ok(place);
        };
        Err(ApiError::new(Reason::QuotaExceeded, format!("at most {bound} may wait for their analysis")))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
        self.share.proofs.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::limits::pending_quota::PendingQuota;

    fn in_a_minute() -> Instant {
        crate::connection::now() + Duration::from_secs(60)
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_refuses_and_those_who_leave_make_room() {
        let (queue, pending) = (ProofQueue::default(), PendingQuota::default());
        let share = || pending.connection_share(std::net::Ipv4Addr::LOCALHOST.into());
        let turn = |queue: ProofQueue, share, deadline| async move { queue.turn(&share, deadline).await };
        let mut running = Vec::new();
        for _ in 0..PROOFS_MAX {
            running.push(queue.turn(&share(), in_a_minute()).await.unwrap());
        }
        let waiting: Vec<_> = (0..PROOFS_WAITING_MAX)
            .map(|_| tokio::spawn(turn(queue.clone(), share(), in_a_minute())))
            .collect();
        tokio::task::yield_now().await;
        let full = queue.turn(&share(), in_a_minute()).await.unwrap_err();
        assert_eq!(full.reason(), Reason::QuotaExceeded);
        assert!(full.text().contains("at most 32 templates"), "{}", full.text());
        // One caller leaves: another one may wait, until its own deadline.
        waiting[0].abort();
        tokio::task::yield_now().await;
        let late = queue.turn(&share(), crate::connection::now() + Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(late.reason(), Reason::DeadlineExceeded);
        drop(running);
        for waiting in waiting.into_iter().skip(1) {
            waiting.await.unwrap().unwrap();
        }
        assert_eq!(queue.all.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn one_connection_takes_no_place_of_another() {
        let (queue, pending) = (ProofQueue::default(), PendingQuota::default());
        let (greedy, other) = (
            pending.connection_share(std::net::Ipv4Addr::LOCALHOST.into()),
            pending.connection_share(std::net::Ipv4Addr::LOCALHOST.into()),
        );
        let held: Vec<_> = (0..PROOFS_OF_CONNECTION_MAX).map(|_| queue.place(&greedy).unwrap()).collect();
        let refused = queue.place(&greedy).unwrap_err();
        assert_eq!(refused.reason(), Reason::QuotaExceeded);
        drop(queue.place(&other).unwrap());
        drop(held);
        assert_eq!((queue.all.load(Ordering::Relaxed), greedy.proofs.load(Ordering::Relaxed)), (0, 0));
    }
}
