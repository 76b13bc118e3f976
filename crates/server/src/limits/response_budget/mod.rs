//! Budget of unread responses over all connections of a listener. Above the limit, the worst peer is disconnected.

mod counters;
pub(crate) mod tracked_response;
pub(crate) mod unread;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::limits::{UNREAD_HARD_MAX, UNREAD_SOFT_MAX, response_budget::counters::UnreadCounters};

/// Unread responses of all connections beyond their own share. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResponseBudget(Arc<Totals>);

#[derive(Debug, Default)]
struct Totals {
    sum: AtomicUsize,
    connections: Mutex<Connections>,
}

/// All connections, and the one that was asked to disconnect and has not ended yet. Only one is asked at a time,
/// since its end may be enough.
#[derive(Debug, Default)]
struct Connections {
    /// Keyed by the address of the counters in memory.
    all: HashMap<usize, Arc<UnreadCounters>>,
    disconnecting: Option<Arc<UnreadCounters>>,
}

impl ResponseBudget {
    /// Adds a connection.
    fn enter(&self) -> Arc<UnreadCounters> {
        let counters = Arc::new(UnreadCounters::default());
        self.connections(|connections| {
            drop(connections.all.insert(address(&counters), Arc::clone(&counters)));
        });
        counters
    }

    /// Adds unread responses of a connection.
    ///
    /// Above [`UNREAD_SOFT_MAX`], the peer that has read nothing for longest is disconnected, and of several the one
    /// with most. A peer that reads stays, even if its response exceeded the limit. Above [`UNREAD_HARD_MAX`], the
    /// peer of this connection is disconnected.
    pub(crate) fn add(&self, more: usize, counters: &UnreadCounters) {
        let sum = self.0.sum.fetch_add(more, Ordering::Relaxed) + more;
        if sum <= UNREAD_SOFT_MAX {
            return;
        }
        if sum > UNREAD_HARD_MAX {
            counters.request_disconnect();
        }
        self.connections(|connections| {
            if connections.disconnecting.is_some() {
                return;
            }
            let stay = connections.all.values().filter(|counters| !counters.is_disconnect_requested());
            connections.disconnecting = stay.max_by_key(|counters| counters.pressure()).cloned();
            if let Some(disconnecting) = &connections.disconnecting {
                disconnecting.request_disconnect();
            }
        });
    }

    /// Removes responses that were read.
    pub(crate) fn sub(&self, less: usize) {
        self.0.sum.fetch_sub(less, Ordering::Relaxed);
    }

    /// Removes a connection with all its unread responses.
    pub(crate) fn leave(&self, counters: &Arc<UnreadCounters>) {
        self.connections(|connections| {
            connections.all.remove(&address(counters));
            connections.disconnecting.take_if(|disconnecting| Arc::ptr_eq(disconnecting, counters));
        });
    }

    fn connections(&self, change: impl FnOnce(&mut Connections)) {
        change(&mut self.0.connections.lock().unwrap_or_else(PoisonError::into_inner));
    }

    #[cfg(test)]
    pub(crate) fn sum(&self) -> usize {
        self.0.sum.load(Ordering::Relaxed)
    }
}

fn address(counters: &Arc<UnreadCounters>) -> usize {
    Arc::as_ptr(counters).addr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{UNREAD_FREE, UNREAD_INTERVAL, response_budget::unread::ConnectionUnread};
    use bytes::Bytes;
    use tokio::{
        task::JoinHandle,
        time::{sleep, timeout},
    };

    fn track(connection: &ConnectionUnread, count: usize) -> Vec<impl Sized + use<>> {
        (0..count).map(|_| connection.track(Bytes::from_static(b"1"))).collect()
    }

    fn watched(all: &ResponseBudget) -> (ConnectionUnread, JoinHandle<()>) {
        let connection = all.connection();
        let watch = tokio::spawn(connection.clone().overdue());
        (connection, watch)
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_not_read_for_longest_goes_and_a_reader_with_a_burst_stays() {
        let all = ResponseBudget::default();
        let mut busy: Vec<_> = (0..UNREAD_SOFT_MAX / 16).map(|_| watched(&all)).collect();
        let (reader, reads) = watched(&all);
        let mut held: Vec<_> = busy.iter().map(|(connection, _)| track(connection, 16)).collect();
        // One interval later, one of them adds a little more.
        sleep(UNREAD_INTERVAL + UNREAD_INTERVAL / 10).await;
        let first = busy.pop().unwrap();
        let more = track(&first.0, UNREAD_FREE);
        timeout(UNREAD_INTERVAL / 10, first.1).await.expect("at once").unwrap();
        assert!(!busy.iter().any(|(_, watch)| watch.is_finished()), "one is enough");
        drop((first.0, more, held.pop()));
        for _ in 0..100 {
            drop(track(&reader, 64));
            tokio::task::yield_now().await;
        }
        assert!(!reads.is_finished(), "somebody else has read nothing for a interval");
        assert_eq!(
            busy.iter().filter(|(_, watch)| watch.is_finished()).count(),
            1,
            "the one that was asked goes first"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn of_those_who_leave_much_at_once_it_is_who_leaves_most_and_each_beyond_twice_the_bound() {
        let all = ResponseBudget::default();
        let ((most, watch), (other, stays), (late, goes)) = (watched(&all), watched(&all), watched(&all));
        let _held = track(&most, UNREAD_SOFT_MAX);
        let _few = track(&other, 64);
        timeout(UNREAD_INTERVAL / 10, watch).await.expect("at once").unwrap();
        let _many = track(&late, UNREAD_HARD_MAX - UNREAD_SOFT_MAX);
        timeout(UNREAD_INTERVAL / 10, goes).await.expect("at once").unwrap();
        assert!(!stays.is_finished());
    }

    #[test]
    fn connections_that_ended_are_forgotten() {
        let all = ResponseBudget::default();
        let kept = all.connection();
        drop((all.connection(), all.connection()));
        all.connections(|connections| assert_eq!(connections.all.len(), 1));
        drop(kept);
        all.connections(|connections| {
            assert!(connections.all.is_empty() && connections.disconnecting.is_none());
        });
    }
}
