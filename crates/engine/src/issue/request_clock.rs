//! The clock for requests without an instant. It is this process's wall clock, and ignores small steps back.

use std::sync::atomic::{AtomicU64, Ordering};

use sequent_core::Clock;
use sequent_format::Timestamp;

/// Largest step back that is ignored, in milliseconds. A clock that is set back by at most this much stands still
/// meanwhile, so that an ended period does not begin again. A larger step is followed. Uniqueness depends on neither:
/// the period is part of the counter's key and of the text.
const STEP_BACK_MAX_MS: u64 = 10 * 60 * 1000;

/// The latest instant that was given to a request.
#[derive(Debug, Default)]
pub(crate) struct RequestClock(AtomicU64);

impl RequestClock {
    /// The current instant, for texts and periods.
    pub(crate) fn now(&self, clock: &dyn Clock) -> Timestamp {
        let shown = clock.wall_ms();
        let latest = self.0.fetch_max(shown, Ordering::Relaxed);
        let now = match latest.checked_sub(shown) {
            Some(back) if back > STEP_BACK_MAX_MS => {
                // A lost race is harmless: a later caller sees a clock that stands still, or the same step.
                let _ = self.0.compare_exchange(latest, shown, Ordering::Relaxed, Ordering::Relaxed);
                shown
            }
            Some(_) => latest,
            None => shown,
        };
        i64::try_from(now).ok().and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_testkit::PausedClock;

    #[tokio::test(start_paused = true)]
    async fn a_small_step_back_is_stood_out_and_a_great_one_followed() {
        let (clock, wall) = (PausedClock::new(), RequestClock::default());
        let start = wall.now(&clock);
        clock.step_wall(-2000);
        assert_eq!(wall.now(&clock), start);
        clock.step_wall(2500);
        assert_eq!(wall.now(&clock).as_millisecond(), start.as_millisecond() + 500);
        clock.step_wall(-3_600_000);
        assert_eq!(wall.now(&clock).as_millisecond(), start.as_millisecond() + 500 - 3_600_000);
        clock.step_wall(1);
        assert_eq!(wall.now(&clock).as_millisecond(), start.as_millisecond() + 501 - 3_600_000);
    }
}
