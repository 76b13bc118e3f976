//! What every request came to, and how long it took.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;

use crate::{bits::Bits, stalls::Stalls};

/// The limit of one attempt, as configured: the server's, and the SDK's.
pub(crate) const ATTEMPT: Duration = Duration::from_secs(1);

/// How many times the normal p99 is allowed on top of it.
const SLACK: u32 = 5;

/// The longest time that is told from longer ones: ten minutes.
const TIME_MAX_US: u64 = 600_000_000;

/// Failures and slow requests that are kept, to be shown.
const SHOWN_MAX: usize = 50;

/// All numbers, and the requests of the phase that runs now.
#[derive(Default)]
pub(crate) struct Journal {
    pub(crate) bits: Bits,
    of_slots: [AtomicU64; 4],
    highest: [AtomicU64; 4],
    now: Mutex<Phase>,
}

/// The requests of one stretch of time.
#[derive(Default)]
pub(crate) struct Phase {
    times: BTreeMap<&'static str, Histogram<u64>>,
    /// Requests that took longer than an attempt.
    slow: Vec<(&'static str, Instant, Instant)>,
    failures: Vec<String>,
    failed: usize,
}

impl Journal {
    /// Notes a request that began then, by its kind.
    pub(crate) fn note(&self, kind: &'static str, begun: Instant, outcome: Result<Vec<u64>, String>) {
        let ended = Instant::now();
        let failure = match outcome {
            Ok(numbers) => {
                for number in &numbers {
                    self.of_slots[slot(*number)].fetch_add(1, Ordering::Relaxed);
                    self.highest[slot(*number)].fetch_max(*number, Ordering::Relaxed);
                }
                self.bits.add(kind, numbers);
                None
            }
            Err(error) => Some(format!("{kind} after {} ms: {error}", (ended - begun).as_millis())),
        };
        self.now().note(kind, begun, ended, failure);
    }

    /// How many numbers of a slot were given.
    pub(crate) fn of_slot(&self, slot: usize) -> u64 {
        self.of_slots[slot].load(Ordering::Relaxed)
    }

    /// The highest number of each slot, 0 where none was given.
    pub(crate) fn highest(&self) -> [u64; 4] {
        [0, 1, 2, 3].map(|slot: usize| self.highest[slot].load(Ordering::Relaxed))
    }

    /// Ends the phase that runs, and begins another.
    pub(crate) fn turn(&self) -> Phase {
        std::mem::take(&mut self.now())
    }

    fn now(&self) -> MutexGuard<'_, Phase> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot that a number tells, in a ring of four whose ids are numbers as they are.
fn slot(number: u64) -> usize {
    usize::try_from((number - 1) % 4).unwrap()
}

impl Phase {
    fn note(&mut self, kind: &'static str, begun: Instant, ended: Instant, failure: Option<String>) {
        let took = ended - begun;
        let times =
            self.times.entry(kind).or_insert_with(|| Histogram::new_with_max(TIME_MAX_US, 3).unwrap());
        times.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        if took > ATTEMPT {
            self.slow.push((kind, begun, ended));
            // The slowest are kept.
            self.slow.sort_by_key(|(_, begun, ended)| Reverse(*ended - *begun));
            self.slow.truncate(SHOWN_MAX);
        }
        if let Some(failure) = failure {
            self.failed += 1;
            if self.failures.len() < SHOWN_MAX {
                self.failures.push(failure);
            }
        }
    }

    /// The 99th percentile of each kind of requests.
    pub(crate) fn normal(&self) -> BTreeMap<&'static str, Duration> {
        let p99 = |times: &Histogram<u64>| Duration::from_micros(times.value_at_quantile(0.99));
        self.times.iter().map(|(kind, times)| (*kind, p99(times))).collect()
    }

    /// Requests that failed.
    pub(crate) fn failures(&self) -> Vec<String> {
        let rest = self.failed - self.failures.len();
        let more = (rest > 0).then(|| format!("and {rest} more"));
        self.failures.iter().cloned().chain(more).collect()
    }

    /// What must not be: failures, and requests beyond one attempt's limit and five times the normal p99.
    pub(crate) fn faults(&self, normal: &BTreeMap<&'static str, Duration>, stalls: &Stalls) -> Vec<String> {
        let mut faults = self.failures();
        for (kind, begun, ended) in &self.slow {
            let usual = normal.get(kind).copied().unwrap_or_default();
            let (took, stall) = (*ended - *begun, stalls.within(*begun, *ended));
            let bound = ATTEMPT + SLACK * usual + stall;
            println!(
                "    slow: {kind} took {took:?}, allowed {bound:?}, of which the machine stood still {stall:?}"
            );
            if took > bound {
                faults.push(format!("{kind} took {took:?}, at most {bound:?} is allowed"));
            }
        }
        faults
    }

    /// Requests, and p50, p99 and the longest in milliseconds, by kind.
    pub(crate) fn shown(&self) -> String {
        let one = |(kind, times): (&&str, &Histogram<u64>)| {
            #[allow(clippy::cast_precision_loss, reason = "shown")]
            let ms = |us: u64| us as f64 / 1e3;
            let [mid, high, max] = [0.5, 0.99, 1.0].map(|quantile| ms(times.value_at_quantile(quantile)));
            format!("{kind} {} {mid:.1}/{high:.1}/{max:.0}", times.len())
        };
        self.times.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}
