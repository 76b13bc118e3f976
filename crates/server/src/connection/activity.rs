//! What a connection has done so far: written by itself, read when its listener is full and when it may be idle.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::{
    sync::{Notify, Semaphore},
    time::sleep,
};

use crate::limits::{
    FIRST_REQUEST_WHEN_FULL, IDLE_INTERVAL, IDLE_INTERVALS, response_budget::unread::ConnectionUnread,
};

/// Activity of one connection.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Requests that have begun: their heads were complete.
    requests: AtomicU64,
    /// Times that its task has run.
    turns: AtomicU64,
    /// Its place among the connections of its address.
    pub(super) position: AtomicU64,
    leave: Notify,
    /// Closed once the place is free: many may wait for that.
    gone: Semaphore,
}

impl Default for Activity {
    fn default() -> Self {
        let zero = AtomicU64::default;
        Self {
            requests: zero(),
            turns: zero(),
            position: zero(),
            leave: Notify::new(),
            gone: Semaphore::new(0),
        }
    }
}

impl Activity {
    /// Counts a request. Those of a connection begin one after the other, so this needs no locked instruction.
    pub(crate) fn begin(&self) {
        self.requests.store(self.requests() + 1, Ordering::Relaxed);
    }

    /// Requests that have begun.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Notes that the connection's task runs again, after others had their turn.
    pub(super) fn begin_turn(&self) {
        self.turns.store(self.turn() + 1, Ordering::Relaxed);
    }

    /// The current run of the connection's task.
    pub(super) fn turn(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Asks the connection to end, and waits until its place is free.
    pub(crate) async fn end(&self) {
        self.leave.notify_one();
        // It has no permits, and ends when it is closed.
        let _closed = self.gone.acquire().await.is_err();
    }

    /// Ends when the connection was asked to end.
    pub(crate) async fn asked_to_end(&self) {
        self.leave.notified().await;
    }

    /// The place is free.
    pub(super) fn is_gone(&self) {
        self.gone.close();
    }

    /// Ends if there was no request within [`FIRST_REQUEST_WHEN_FULL`].
    pub(crate) async fn without_request(&self) {
        sleep(FIRST_REQUEST_WHEN_FULL).await;
        if self.requests() > 0 {
            std::future::pending::<()>().await;
        }
    }

    /// Ends when the connection had neither a new request nor an unfinished response for [`IDLE_INTERVALS`] whole
    /// intervals.
    pub(crate) async fn idle(&self, unread: &ConnectionUnread) {
        let (mut seen, mut intervals) = (self.requests(), 0);
        while intervals < IDLE_INTERVALS {
            sleep(IDLE_INTERVAL).await;
            let requests = self.requests();
            intervals = if requests == seen && !unread.has_responses() { intervals + 1 } else { 0 };
            seen = requests;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn all_who_wait_for_the_same_place_hear_that_it_is_free() {
        let activity = Arc::new(Activity::default());
        let waiting: Vec<_> = (0..3).map(|_| Arc::clone(&activity)).collect();
        let waiting = waiting.into_iter().map(|activity| tokio::spawn(async move { activity.end().await }));
        let waiting: Vec<_> = waiting.collect();
        activity.asked_to_end().await;
        activity.is_gone();
        for waits in waiting {
            waits.await.unwrap();
        }
        activity.end().await;
    }
}
