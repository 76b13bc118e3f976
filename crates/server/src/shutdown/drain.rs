//! Drain of a server: how long it lasts, and how long callers are given to use up prefetched numbers.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use tokio::time::sleep;

use crate::{limits::runtime_limits::RuntimeLimits, telemetry::request_metrics};

/// Interval between two checks of the prefetched numbers.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Progress that is worth waiting for: one 64th of the prefetched numbers per check.
const USED_PARTS: u64 = 64;

/// Share of the drain timeout that this wait may take: one half.
const TIME_PARTS: u32 = 2;

/// Waits while callers use up the `ready` numbers, of which there were `held` at the start, for a part of `limit`.
/// Returns the rest of `limit`.
///
/// A server that prefetches for ten seconds holds more than is used during the drain delay. What is left at the end
/// is burnt.
pub(crate) async fn wait_until_reserve_used(
    ready: impl Fn() -> u64,
    mut held: u64,
    limit: Duration,
) -> Duration {
    let least = (held / USED_PARTS).max(1);
    let mut waited = Duration::ZERO;
    while waited + CHECK_INTERVAL <= limit / TIME_PARTS {
        let left = ready();
        if left.saturating_add(least) > held {
            break;
        }
        held = left;
        sleep(CHECK_INTERVAL).await;
        waited += CHECK_INTERVAL;
    }
    limit.saturating_sub(waited)
}

/// Start of a drain, if there is one. Cheap to clone.
#[derive(Clone)]
pub(crate) struct DrainState {
    began: Arc<OnceLock<Instant>>,
    limits: RuntimeLimits,
}

impl DrainState {
    pub(crate) fn new(limits: RuntimeLimits) -> Self {
        Self { began: Arc::default(), limits }
    }

    pub(crate) fn begin(&self, now: Instant) {
        self.began.get_or_init(|| now);
    }

    /// Sets the gauges of the drain.
    pub(crate) fn record_metrics(&self, now: Instant) {
        let since = self.began.get().map_or(Duration::ZERO, |began| now.saturating_duration_since(*began));
        let limits = self.limits.current();
        request_metrics::set_drain(since, limits.drain_delay + limits.drain_timeout);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// How many of twenty seconds are left, if `held` numbers were ready and the checks find these counts.
    async fn left(held: u64, found: &[u64]) -> u64 {
        let checks = AtomicU64::new(0);
        let ready = || {
            let at = usize::try_from(checks.fetch_add(1, Ordering::Relaxed)).unwrap();
            found[at.min(found.len() - 1)]
        };
        wait_until_reserve_used(ready, held, Duration::from_secs(20)).await.as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_waited_for_while_it_goes_and_no_longer() {
        assert_eq!(left(5000, &[4000, 3000, 2000, 1000, 100, 100]).await, 15, "then little is held ahead");
        assert_eq!(left(5000, &[4000, 3990]).await, 19, "so slowly nobody waits for it");
        assert_eq!(left(5000, &[5000]).await, 20, "nobody asks");
        assert_eq!(left(0, &[0]).await, 20);
        assert_eq!(left(5000, &[6000]).await, 20);
        let slowly: Vec<u64> = (1..50).map(|check| 5000 - check * 100).collect();
        assert_eq!(left(5000, &slowly).await, 10, "requests in work need time, too");
        assert_eq!(wait_until_reserve_used(|| 0, 5000, Duration::ZERO).await, Duration::ZERO);
    }
}
