//! When each request is meant to start: at once after the last (closed loop), or by a timetable (open loop).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_core::Clock;
use tokio::sync::Semaphore;

/// The pacer's shortest nap: what a sleeping thread can keep.
const NAP_MIN: Duration = Duration::from_micros(50);

/// The pacer's longest nap: how late it may notice the end.
const NAP_MAX: Duration = Duration::from_millis(20);

/// The most requests that become due at one look; more wait for the next, a nap later.
const PERMITS_MAX: u64 = 1 << 20;

/// Gives each request its intended start, until the count, the duration or a person ends it.
///
/// In an open loop latency counts from the timetable, so a request that had to wait for a free task, because
/// those before it were slow, shows the wait (no coordinated omission).
pub(crate) struct Schedule {
    clock: Arc<dyn Clock>,
    started: Instant,
    until: Option<Instant>,
    count: u64,
    taken: AtomicU64,
    stopped: AtomicBool,
    timetable: Option<Timetable>,
}

struct Timetable {
    /// Requests a second.
    rate: f64,
    /// One permit a request that is due.
    due: Semaphore,
}

impl Schedule {
    /// Starts now: at most `count` requests, for at most `duration`, `rate` a second or as fast as they come.
    pub(crate) fn start(
        clock: Arc<dyn Clock>,
        count: Option<u64>,
        duration: Option<Duration>,
        rate: Option<f64>,
    ) -> Arc<Self> {
        let started = clock.now();
        Arc::new(Self {
            started,
            until: duration.and_then(|duration| started.checked_add(duration)),
            count: count.unwrap_or(u64::MAX),
            taken: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            timetable: rate.map(|rate| Timetable { rate, due: Semaphore::new(0) }),
            clock,
        })
    }

    /// How long it has run.
    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.now().saturating_duration_since(self.started)
    }

    /// The intended start of the next request; `None` at the end.
    pub(crate) async fn next(&self) -> Option<Instant> {
        if let Some(timetable) = &self.timetable {
            timetable.due.acquire().await.ok()?.forget();
        }
        let now = self.clock.now();
        if self.is_over(now) {
            self.stop();
            return None;
        }
        let index = self.taken.fetch_add(1, Ordering::Relaxed);
        if index >= self.count {
            return None;
        }
        if index + 1 == self.count {
            // Whoever still waits for the timetable would wait for ever: all its requests have been given.
            self.stop();
        }
        Some(match &self.timetable {
            Some(timetable) => self.started + timetable.start_of(index),
            None => now,
        })
    }

    /// Requests that were due by the timetable and never started, since no task was free.
    pub(crate) fn unstarted(&self) -> u64 {
        self.timetable.as_ref().map_or(0, |timetable| timetable.due.available_permits() as u64)
    }

    /// No further request starts.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(timetable) = &self.timetable {
            timetable.due.close();
        }
    }

    /// The pacer, on a thread of its own: the runtime's timer, with its milliseconds, is too coarse for a timetable.
    pub(crate) fn run(&self) {
        let Some(timetable) = &self.timetable else { return };
        let mut given = 0_u64;
        loop {
            let now = self.clock.now();
            if self.is_over(now) {
                self.stop();
                return;
            }
            let due = timetable.due_after(now.saturating_duration_since(self.started)).min(self.count);
            let fresh = due.saturating_sub(given).min(PERMITS_MAX);
            timetable.due.add_permits(usize::try_from(fresh).unwrap_or(0));
            given += fresh;
            // Until the next request is due: a nap of fixed length would make each of them late by half of it.
            let next = self.started + timetable.start_of(given);
            let nap = next.saturating_duration_since(self.clock.now()).clamp(NAP_MIN, NAP_MAX);
            std::thread::sleep(nap);
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.until.is_some_and(|until| now >= until)
    }
}

impl Timetable {
    /// When a request is meant to start, from the beginning.
    #[allow(clippy::cast_precision_loss, reason = "a nanosecond's error after years of requests")]
    fn start_of(&self, index: u64) -> Duration {
        Duration::try_from_secs_f64(index as f64 / self.rate).unwrap_or(Duration::MAX)
    }

    /// How many requests are due once so much time has gone by.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturating, and never negative"
    )]
    fn due_after(&self, elapsed: Duration) -> u64 {
        (elapsed.as_secs_f64() * self.rate) as u64 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::SystemClock;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn a_count_is_kept_exactly_by_many_tasks() {
        let schedule = Schedule::start(Arc::new(SystemClock), Some(1000), None, None);
        let given = runtime().block_on(async {
            let task = |schedule: Arc<Schedule>| async move {
                let mut given = 0;
                while schedule.next().await.is_some() {
                    given += 1;
                    tokio::task::yield_now().await;
                }
                given
            };
            let tasks: Vec<_> = (0..7).map(|_| tokio::spawn(task(Arc::clone(&schedule)))).collect();
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(given, 1000);
    }

    #[test]
    fn a_timetable_sets_the_starts_and_not_the_answers() {
        let schedule = Schedule::start(Arc::new(SystemClock), Some(40), None, Some(10_000.0));
        std::thread::scope(|scope| {
            scope.spawn(|| schedule.run());
            runtime().block_on(async {
                for index in 0..40_u32 {
                    let intended = schedule.next().await.unwrap();
                    assert_eq!(intended - schedule.started, Duration::from_micros(100) * index);
                }
            });
        });
    }

    #[test]
    fn a_stop_ends_tasks_that_wait_for_the_timetable() {
        let schedule = Schedule::start(Arc::new(SystemClock), None, None, Some(0.001));
        runtime().block_on(async {
            let waiting = tokio::spawn({
                let schedule = Arc::clone(&schedule);
                async move { schedule.next().await }
            });
            tokio::task::yield_now().await;
            schedule.stop();
            assert_eq!(waiting.await.unwrap(), None);
        });
        schedule.run();
    }
}
