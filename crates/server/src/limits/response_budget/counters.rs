//! Counters of the unread responses of one connection, by the interval in which they were made.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::limits::UNREAD_INTERVALS;

/// One counter for the current interval, one per interval that a response may stay unread, and one for the interval
/// that is checked.
pub(super) const COUNTERS: usize = UNREAD_INTERVALS + 2;

/// Counters of the unread responses of one connection.
#[derive(Debug, Default)]
pub(crate) struct UnreadCounters {
    pub(super) interval: AtomicUsize,
    pub(super) by_interval: [AtomicUsize; COUNTERS],
    /// Weight of all unread responses.
    pub(super) weight: AtomicUsize,
    /// Set if all connections together have too much, and this one was chosen to disconnect.
    disconnect_requested: AtomicBool,
    pub(super) full: Notify,
}

impl UnreadCounters {
    /// Age of the oldest unread response in intervals, and the weight of all. The highest pair is disconnected first.
    pub(crate) fn pressure(&self) -> (usize, usize) {
        let interval = self.interval.load(Ordering::Relaxed);
        let left = |intervals: &usize| {
            self.by_interval[(interval + COUNTERS - intervals) % COUNTERS].load(Ordering::Relaxed) > 0
        };
        let intervals = (1..=UNREAD_INTERVALS).rev().find(left).unwrap_or(0);
        (intervals, self.weight.load(Ordering::Relaxed))
    }

    /// Asks the connection to end. Only the first call has an effect.
    pub(crate) fn request_disconnect(&self) {
        if !self.disconnect_requested.swap(true, Ordering::Relaxed) {
            self.full.notify_one();
        }
    }

    /// Whether the connection was asked to end.
    pub(crate) fn is_disconnect_requested(&self) -> bool {
        self.disconnect_requested.load(Ordering::Relaxed)
    }
}
