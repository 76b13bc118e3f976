//! Unread responses of one connection.
//!
//! A socket that accepts writes proves nothing. An HTTP/2 peer can grant a stream no window, and so keep a response
//! in the memory of this server while it answers every ping.

use std::{
    io::IoSlice,
    sync::{Arc, atomic::Ordering},
};

use bytes::Buf;
use tokio::time::sleep;

use crate::limits::{
    UNREAD_FREE, UNREAD_INTERVAL, UNREAD_INTERVALS, UNREAD_UNIT_BYTES,
    response_budget::{
        ResponseBudget,
        counters::{COUNTERS, UnreadCounters},
    },
};

/// Unread responses of one connection, counted by the interval in which they were made. It needs no list, lock or
/// timestamp per response. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionUnread(Arc<ConnectionState>);

/// Shares of a connection itself: its service's, that of the watch over its end, the watch's own over what is unread, and
/// that of the future that drives it.
const CONNECTION_SHARES: usize = 4;

#[derive(Debug)]
struct ConnectionState {
    counters: Arc<UnreadCounters>,
    all: ResponseBudget,
}

impl Drop for ConnectionState {
    fn drop(&mut self) {
        self.all.leave(&self.counters);
    }
}

impl ResponseBudget {
    /// Adds a connection.
    pub(crate) fn connection(&self) -> ConnectionUnread {
        let state = ConnectionState { counters: self.enter(), all: self.clone() };
        ConnectionUnread(Arc::new(state))
    }
}

impl ConnectionUnread {
    /// Ends when the peer has left a response unread for [`UNREAD_INTERVALS`] whole intervals, or when the connection
    /// was asked to end.
    pub(crate) async fn overdue(self) {
        let counters = &self.0.counters;
        loop {
            tokio::select! {
                () = sleep(UNREAD_INTERVAL) => {}
                () = counters.full.notified() => return,
            }
            let interval = counters.interval.load(Ordering::Relaxed);
            // The interval (interval - UNREAD_INTERVALS) modulo the counters: no response of it may be left.
            let old = &counters.by_interval[(interval + COUNTERS - UNREAD_INTERVALS) % COUNTERS];
            if old.load(Ordering::Relaxed) > 0 {
                return;
            }
            counters.interval.store((interval + 1) % COUNTERS, Ordering::Relaxed);
        }
    }

    /// Whether a response is in work or not taken yet. Each has a share of this state, beside the
    /// [`CONNECTION_SHARES`] of the connection itself.
    pub(crate) fn has_responses(&self) -> bool {
        Arc::strong_count(&self.0) > CONNECTION_SHARES
    }

    /// Counts a chunk of a response until it is dropped.
    pub(crate) fn track<D: Buf>(&self, data: D) -> TrackedChunk<D> {
        let ConnectionState { counters, all } = &*self.0;
        let (interval, weight) =
            (counters.interval.load(Ordering::Relaxed), 1 + data.remaining() / UNREAD_UNIT_BYTES);
        counters.by_interval[interval].fetch_add(1, Ordering::Relaxed);
        let before = counters.weight.fetch_add(weight, Ordering::Relaxed);
        // The budget is updated in steps. Connections whose peers read never touch the shared counter.
        let more = steps(before + weight) - steps(before);
        if more > 0 {
            all.add(more, counters);
        }
        TrackedChunk { data, interval, weight, of: self.clone() }
    }
}

/// The part of a connection's weight that counts in the budget.
fn steps(weight: usize) -> usize {
    weight - weight % UNREAD_FREE
}

/// Counted chunk of a response. hyper drops it once it is written.
pub(crate) struct TrackedChunk<D> {
    data: D,
    interval: usize,
    weight: usize,
    of: ConnectionUnread,
}

impl<D> Drop for TrackedChunk<D> {
    fn drop(&mut self) {
        let ConnectionState { counters, all } = &*self.of.0;
        counters.by_interval[self.interval].fetch_sub(1, Ordering::Relaxed);
        let before = counters.weight.fetch_sub(self.weight, Ordering::Relaxed);
        let less = steps(before) - steps(before - self.weight);
        if less > 0 {
            all.sub(less);
        }
    }
}

impl<D: Buf> Buf for TrackedChunk<D> {
    fn remaining(&self) -> usize {
        self.data.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.data.chunk()
    }

    fn chunks_vectored<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        self.data.chunks_vectored(into)
    }

    fn advance(&mut self, count: usize) {
        self.data.advance(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::UNREAD_SOFT_MAX;
    use bytes::Bytes;
    use tokio::time::Instant;

    #[allow(clippy::cast_possible_truncation, reason = "a few")]
    const INTERVALS: u32 = UNREAD_INTERVALS as u32;

    #[tokio::test(start_paused = true)]
    #[allow(clippy::disallowed_methods, reason = "paused time, in a test")]
    async fn an_answer_that_is_left_is_overdue_and_others_are_not() {
        let unread = ResponseBudget::default().connection();
        let watch = tokio::spawn(unread.clone().overdue());
        // Many that are read late, but in time.
        for _ in 0..50 {
            let held = unread.track(Bytes::from_static(b"1"));
            sleep(UNREAD_INTERVAL).await;
            drop(held);
        }
        // The interval is then not about to end.
        sleep(UNREAD_INTERVAL / 10).await;
        assert!(!watch.is_finished());
        let (left, began) = (unread.track(Bytes::from_static(b"2")), Instant::now());
        watch.await.unwrap();
        let (least, most) =
            (UNREAD_INTERVAL * INTERVALS, UNREAD_INTERVAL * (INTERVALS + 1) + UNREAD_INTERVAL / 10);
        let lasted = began.elapsed();
        assert!((least..most).contains(&lasted), "{lasted:?}");
        drop(left);
        assert!(
            unread.0.counters.by_interval.iter().all(|by_interval| by_interval.load(Ordering::Relaxed) == 0)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_unread_answers_ends_at_once_and_small_shares_do_not() {
        let all = ResponseBudget::default();
        let (busy, other) = (all.connection(), all.connection());
        let watch = tokio::spawn(busy.clone().overdue());
        let one = |unread: &ConnectionUnread| unread.track(Bytes::from_static(b"1"));
        let mut held: Vec<_> = (0..UNREAD_SOFT_MAX).map(|_| one(&busy)).collect();
        sleep(UNREAD_INTERVAL / 2).await;
        assert!(!watch.is_finished());
        let small: Vec<_> = (1..UNREAD_FREE).map(|_| one(&other)).collect();
        let over = tokio::time::timeout(UNREAD_INTERVAL / 2, other.clone().overdue()).await;
        assert!(over.is_err(), "a connection's own share");
        held.extend((0..UNREAD_FREE).map(|_| one(&busy)));
        let watch = tokio::time::timeout(UNREAD_INTERVAL / 10, watch).await;
        watch.expect("at once").unwrap();
        drop((held, small));
        assert_eq!(all.sum(), 0);
    }

    #[test]
    fn large_pieces_weigh_more() {
        let all = ResponseBudget::default();
        let held = all.connection().track(Bytes::from(vec![0; UNREAD_UNIT_BYTES * UNREAD_FREE]));
        assert_eq!(all.sum(), UNREAD_FREE);
        drop(held);
        assert_eq!(all.sum(), 0);
    }
}
