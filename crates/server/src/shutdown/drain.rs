//! The end of a server: for how long it has been draining, for those who wait; and that callers who stay use up what is ready.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use tokio::time::sleep;

use crate::{limits::runtime_limits::RuntimeLimits, telemetry::request_metrics};

/// How often it is looked whether what is ready is still being used up.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Of what is ready as that begins, one part in so many has to go between two looks; slower than that nobody waits for it.
const USED_PARTS: u64 = 64;

/// Of the time that requests in work have, one part in so many may go on it.
const TIME_PARTS: u32 = 2;

/// Waits while callers use up what is `ready`, of which there were `held` as the drain began, for a part of `limit`; the rest of it.
/// Who reserves for ten seconds holds more than goes in the time that balancers are given, and what is left at the end is burnt.
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

/// When a drain began, if it has. Cheap to clone.
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

    /// Sets its gauges.
    pub(crate) fn record_metrics(&self, now: Instant) {
        let since = self.began.get().map_or(Duration::ZERO, |began| now.saturating_duration_since(*began));
        request_metrics::set_drain(since, self.limits.drain_delay() + self.limits.drain_timeout());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// How many of twenty seconds are left, where so much was held and each look finds what comes next.
    async fn left(held: u64, found: &[u64]) -> u64 {
        let looks = AtomicU64::new(0);
        let ready = || {
            let at = usize::try_from(looks.fetch_add(1, Ordering::Relaxed)).unwrap();
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
        let slowly: Vec<u64> = (1..50).map(|look| 5000 - look * 100).collect();
        assert_eq!(left(5000, &slowly).await, 10, "requests in work need time, too");
        assert_eq!(wait_until_reserve_used(|| 0, 5000, Duration::ZERO).await, Duration::ZERO);
    }
}
