//! Workers of a bench: tasks that send one request after another, measure and check.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_core::{Clock, SequenceName, SystemClock};
use tokio::{
    task::{JoinError, JoinSet},
    time::MissedTickBehavior,
};

use super::{
    duplicate_check::Seen,
    report::{Counts, Report},
    target::{Missed, Target},
};
use crate::{failure::Failure, output};

/// After so many requests a task hands over its counts and yields; otherwise refills would starve.
const TURN_REQUESTS: usize = 128;

/// A task also hands over after so many numbers, which bounds its memory.
const TURN_NUMBERS: usize = 1 << 14;

/// A task also hands over after so long, so that the printed lines are current.
const TURN_MAX: Duration = Duration::from_millis(100);

/// The timer's own delay, which does not count as latency.
const TIMER_STEP: Duration = Duration::from_millis(2);

/// The longest sleep before a start, and so the delay until a task notices the end.
const NAP_MAX: Duration = Duration::from_millis(100);

/// The interval between lines.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// The requests to send, and the end.
pub(super) struct Plan {
    /// At most so many requests.
    pub(super) count: Option<u64>,
    /// For at most so long.
    pub(super) duration: Option<Duration>,
    /// So many requests a second, or as fast as they come.
    pub(super) rate: Option<f64>,
    /// Numbers a request.
    pub(super) batch: u64,
}

/// The state that tasks share.
pub(super) struct Workers<T> {
    target: T,
    plan: Plan,
    started: Instant,
    until: Option<Instant>,
    /// Requests that some task has begun.
    begun: AtomicU64,
    stopped: AtomicBool,
    /// The counts since the last line, and every number so far.
    counted: Mutex<(Counts, Seen)>,
}

/// The counts that a task has not handed over yet.
#[derive(Default)]
pub(super) struct Turn {
    /// Requests that ended: the duration of each, and the reason of a failure.
    pub(super) ended: Vec<(Duration, Option<Missed>)>,
    /// The numbers from the successful ones.
    pub(super) numbers: Vec<u64>,
}

impl<T: Target> Workers<T> {
    /// Starts the clock.
    pub(super) fn new(plan: Plan, target: T) -> Arc<Self> {
        let started = SystemClock.now();
        Arc::new(Self {
            target,
            started,
            until: plan.duration.and_then(|duration| started.checked_add(duration)),
            plan,
            begun: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            counted: Mutex::default(),
        })
    }

    /// Runs so many tasks until the plan or the user ends them. Requests in progress are finished first.
    pub(super) async fn run(self: Arc<Self>, name: &SequenceName, tasks: u64) -> Result<Report, Failure> {
        let mut total = Counts::default();
        self.run_tasks(tasks, &mut total)
            .await
            .map_err(|error| Failure::failed(format!("a task of the bench died: {error}")))?;
        let elapsed = self.elapsed();
        let (fresh, seen) = &mut *self.counted();
        total.absorb(std::mem::take(fresh));
        Ok(Report::new(name, elapsed, total, seen))
    }

    async fn run_tasks(self: &Arc<Self>, tasks: u64, total: &mut Counts) -> Result<(), JoinError> {
        let mut tasks: JoinSet<()> = (0..tasks).map(|_| Arc::clone(self).work()).collect();
        let interrupted = interrupted();
        tokio::pin!(interrupted);
        let mut lines = tokio::time::interval(LINE_EVERY);
        lines.set_missed_tick_behavior(MissedTickBehavior::Delay);
        lines.reset();
        let mut said_at = Duration::ZERO;
        loop {
            tokio::select! {
                ended = tasks.join_next() => match ended {
                    Some(ended) => ended?,
                    None => return Ok(()),
                },
                () = &mut interrupted, if !self.stopped.load(Ordering::Relaxed) => {
                    self.stopped.store(true, Ordering::Relaxed);
                }
                _ = lines.tick() => total.absorb(self.say_fresh(&mut said_at)),
            }
        }
    }

    async fn work(self: Arc<Self>) {
        let mut turn = Turn::default();
        let mut handed_over = self.started;
        while let Some(start) = self.next().await {
            let missed = self.target.take(self.plan.batch, &mut turn.numbers).await.err();
            let now = SystemClock.now();
            turn.ended.push((now.saturating_duration_since(start), missed));
            let is_full = turn.ended.len() >= TURN_REQUESTS || turn.numbers.len() >= TURN_NUMBERS;
            if is_full || now.saturating_duration_since(handed_over) >= TURN_MAX {
                self.hand_over(std::mem::take(&mut turn));
                handed_over = now;
                tokio::task::yield_now().await;
            }
        }
        self.hand_over(turn);
    }

    /// The start of the next request, from which its latency counts; `None` at the end.
    async fn next(&self) -> Option<Instant> {
        let index = self.begun.fetch_add(1, Ordering::Relaxed);
        let now = SystemClock.now();
        if self.plan.count.is_some_and(|count| index >= count) || self.is_over(now) {
            return None;
        }
        match self.plan.rate {
            None => Some(now),
            Some(rate) => self.wait_for(self.started.checked_add(start_of(index, rate))?, now).await,
        }
    }

    /// Waits for a start of the timetable. A task that is late sends its request at once, and the latency
    /// includes the delay.
    async fn wait_for(&self, start: Instant, mut now: Instant) -> Option<Instant> {
        if now >= start {
            return Some(start);
        }
        while now < start {
            tokio::time::sleep(start.duration_since(now).min(NAP_MAX)).await;
            now = SystemClock.now();
            if self.is_over(now) {
                return None;
            }
        }
        Some(now.min(start + TIMER_STEP))
    }

    fn is_over(&self, now: Instant) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.until.is_some_and(|until| now >= until)
    }

    fn elapsed(&self) -> Duration {
        SystemClock.now().saturating_duration_since(self.started)
    }

    fn counted(&self) -> MutexGuard<'_, (Counts, Seen)> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_over(&self, turn: Turn) {
        let (fresh, seen) = &mut *self.counted();
        turn.numbers.iter().for_each(|number| seen.add(*number));
        fresh.add(turn);
    }

    /// Prints the counts since the last line, and resets them.
    fn say_fresh(&self, said_at: &mut Duration) -> Counts {
        let fresh = std::mem::take(&mut self.counted().0);
        let elapsed = self.elapsed();
        let line = fresh.line(elapsed.saturating_sub(*said_at));
        output::say(&format!("after {} s: {line}", elapsed.as_secs()));
        *said_at = elapsed;
        fresh
    }
}

/// The planned start of a request in the timetable, relative to the beginning.
#[allow(clippy::cast_precision_loss, reason = "a nanosecond's error after years of requests")]
fn start_of(index: u64, rate: f64) -> Duration {
    Duration::try_from_secs_f64(index as f64 / rate).unwrap_or(Duration::MAX)
}

/// Ends with ctrl-c; never, if signals are unavailable.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts up, gives 7 twice, and fails each hundredth request; the first one is slow.
    #[derive(Default)]
    struct Scripted {
        last: AtomicU64,
        stall: Duration,
    }

    impl Target for Scripted {
        async fn take(&self, count: u64, to: &mut Vec<u64>) -> Result<(), Missed> {
            let first = self.last.fetch_add(count, Ordering::Relaxed) + 1;
            if first == 1 {
                tokio::time::sleep(self.stall).await;
            }
            match first {
                _ if count > 1 => to.extend(first..first + count),
                8 => to.push(7),
                index if index % 100 == 0 => {
                    return Err(Missed { reason: "DRAINING", text: format!("request {index}") });
                }
                index => to.push(index),
            }
            Ok(())
        }
    }

    fn run(plan: Plan, tasks: u64, stall: Duration) -> serde_json::Value {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let workers = Workers::new(plan, Scripted { stall, ..Scripted::default() });
        let report = runtime.block_on(workers.run(&"order".parse().unwrap(), tasks)).unwrap();
        serde_json::to_value(report).unwrap()
    }

    fn plan(count: u64, batch: u64) -> Plan {
        Plan { count: Some(count), duration: None, rate: None, batch }
    }

    #[test]
    fn every_request_is_counted_and_every_number_checked() {
        let report = run(plan(1000, 1), 3, Duration::ZERO);
        for (field, value) in [("requests", 1000), ("numbers", 990), ("errors", 10), ("duplicates", 1)] {
            assert_eq!(report[field], value, "{field} in {report}");
        }
        assert_eq!(report["errors_by_reason"]["DRAINING"], 10);
        assert_eq!(report["duplicate_numbers"][0], "7");
        assert!(report["error_example"].as_str().unwrap().starts_with("request "));
    }

    #[test]
    fn a_batch_counts_once_as_a_request_and_whole_in_numbers() {
        let report = run(plan(1000, 64), 3, Duration::ZERO);
        for (field, value) in [("requests", 1000), ("numbers", 64_000), ("errors", 0), ("duplicates", 0)] {
            assert_eq!(report[field], value, "{field} in {report}");
        }
    }

    #[test]
    fn a_stall_shows_in_each_request_that_it_delayed() {
        let plan = Plan { rate: Some(1000.0), ..plan(50, 1) };
        let report = run(plan, 1, Duration::from_millis(400));
        let median = report["latency_ns"]["p50"].as_u64().unwrap();
        assert!(median >= 300_000_000, "they were due within 50 ms: {report}");
    }

    #[test]
    fn a_timetable_ends_with_the_time_and_not_with_its_next_request() {
        let duration = Some(Duration::from_millis(50));
        let report = run(Plan { count: None, duration, rate: Some(0.01), batch: 1 }, 2, Duration::ZERO);
        assert_eq!(report["requests"], 1, "the next is due in a hundred seconds: {report}");
        assert!(report["seconds"].as_f64().unwrap() < 50.0, "{report}");
    }
}
