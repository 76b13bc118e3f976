//! A clock that follows tokio's: paused where the runtime is, stepped by the test.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use sequent_core::Clock;

/// What the wall shows when a test begins: 2026-01-01T00:00:00Z.
const WALL_START: Duration = Duration::from_secs(1_767_225_600);

/// Time as tokio has it: under `start_paused = true` it moves only when every task waits.
///
/// ```
/// use sequent_core::Clock;
/// use sequent_testkit::PausedClock;
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// let clock = PausedClock::new();
/// let (start, wall) = (clock.now(), clock.wall_ms());
/// tokio::time::sleep(std::time::Duration::from_secs(5)).await;
/// clock.step_wall(-3_000);
/// assert_eq!(clock.now() - start, std::time::Duration::from_secs(5));
/// assert_eq!(clock.wall_ms() - wall, 2_000);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PausedClock {
    origin: Instant,
    step_ms: AtomicI64,
}

impl PausedClock {
    /// A clock whose wall begins at a fixed instant, so that every run sees the same dates.
    pub fn new() -> Self {
        Self { origin: tokio_now(), step_ms: AtomicI64::new(0) }
    }

    /// Steps the wall by so many milliseconds, either way; intervals are not touched.
    pub fn step_wall(&self, by_ms: i64) {
        self.step_ms.fetch_add(by_ms, Ordering::Relaxed);
    }
}

impl Default for PausedClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for PausedClock {
    fn now(&self) -> Instant {
        tokio_now()
    }

    fn wall(&self) -> SystemTime {
        let unstepped = UNIX_EPOCH + WALL_START + self.now().saturating_duration_since(self.origin);
        let step_ms = self.step_ms.load(Ordering::Relaxed);
        let step = Duration::from_millis(step_ms.unsigned_abs());
        let stepped = if step_ms < 0 { unstepped.checked_sub(step) } else { unstepped.checked_add(step) };
        stepped.unwrap_or(UNIX_EPOCH)
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the tests' one clock")]
fn tokio_now() -> Instant {
    tokio::time::Instant::now().into_std()
}
