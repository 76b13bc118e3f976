//! Why a connection was ended on account of its peer: counted, and logged once a minute.

use std::{
    error::Error,
    io,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use sequent_core::{Clock, SystemClock};

use crate::{limits::ENDED_LOG_EVERY, telemetry::request_metrics::ConnectionMetrics};

/// Why a connection was ended on account of its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// Its listener was full, and it had been idle longest.
    MadeRoom,
    /// A greeting, a head or an answer to a ping did not come in time, or what was sent was not taken.
    Slow,
    /// It had no request for as long as a connection may be idle.
    Idle,
    /// Its peer left responses unread.
    Unread,
    /// It brought more bytes than its requests account for.
    Flood,
    /// Its peer broke the protocol: invalid heads or frames, or more resets than are allowed.
    Protocol,
}

impl EndReason {
    /// All reasons, in the order of their declaration.
    pub(crate) const ALL: [Self; 6] =
        [Self::MadeRoom, Self::Slow, Self::Idle, Self::Unread, Self::Flood, Self::Protocol];

    /// Metric label.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::MadeRoom => "made_room",
            Self::Slow => "slow",
            Self::Idle => "idle",
            Self::Unread => "unread",
            Self::Flood => "flood",
            Self::Protocol => "protocol",
        }
    }

    /// The reason of an error. `None` if the peer left, which is no fault. `requests` is how many it had begun.
    pub(super) fn of(error: &hyper::Error, requests: u64) -> Option<Self> {
        if error.is_timeout() {
            // Between two requests an HTTP/1 peer owes nothing. A ping that was not answered has a cause.
            let is_idle = requests > 0 && error.source().is_none();
            return Some(if is_idle { Self::Idle } else { Self::Slow });
        }
        if error.is_incomplete_message() || error.is_canceled() || error.is_body_write_aborted() {
            return None;
        }
        let causes = std::iter::successors(error.source(), |cause| (*cause).source());
        match causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind).next() {
            Some(io::ErrorKind::TimedOut) => Some(Self::Slow),
            Some(io::ErrorKind::QuotaExceeded) => Some(Self::Flood),
            Some(_) => None,
            None => Some(Self::Protocol),
        }
    }
}

/// Counts of one listener since its latest log line.
#[derive(Debug)]
pub(crate) struct EndedLog {
    listener: &'static str,
    metrics: ConnectionMetrics,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    logged: Option<Instant>,
    since: [u64; EndReason::ALL.len()],
}

impl EndedLog {
    pub(crate) fn new(listener: &'static str, metrics: ConnectionMetrics) -> Self {
        Self { listener, metrics, counts: Mutex::default() }
    }

    /// Counts an end. The first one is logged at once, further ones together. An idle connection is no news.
    pub(crate) fn ended(&self, reason: EndReason) {
        self.metrics.ended(reason);
        if reason == EndReason::Idle {
            return;
        }
        let Some(since) = self.count(reason, SystemClock.now()) else { return };
        let of = |reason: EndReason| since[reason as usize];
        tracing::warn!(
            listener = self.listener,
            made_room = of(EndReason::MadeRoom),
            slow = of(EndReason::Slow),
            unread = of(EndReason::Unread),
            flood = of(EndReason::Flood),
            protocol = of(EndReason::Protocol),
            "connections were ended because of what their peers did or left undone"
        );
    }

    /// The counts to log, if it is time for a line.
    fn count(&self, reason: EndReason, now: Instant) -> Option<[u64; EndReason::ALL.len()]> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.since[reason as usize] += 1;
        let since_line = counts.logged.map_or(Duration::MAX, |logged| now.duration_since(logged));
        (since_line >= ENDED_LOG_EVERY).then(|| {
            counts.logged = Some(now);
            std::mem::take(&mut counts.since)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_ends_is_one_line_a_minute_and_none_is_lost() {
        let log = EndedLog::new("test", ConnectionMetrics::new("test"));
        let began = SystemClock.now();
        let (mut lines, mut told) = (0, 0);
        for second in 0..=600_u32 {
            for _ in 0..100 {
                if let Some(since) = log.count(EndReason::Protocol, began + Duration::from_secs(1) * second) {
                    lines += 1;
                    told += since[EndReason::Protocol as usize];
                }
            }
        }
        assert_eq!((lines, told), (11, 600 * 100 + 1));
    }
}
