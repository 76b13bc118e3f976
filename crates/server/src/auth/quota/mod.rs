//! Quotas of a principal: requests, numbers, new keys, requests in work. Each server counts by itself.

mod gcra;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use sequent_engine::config::QuotaLimits;

use gcra::{Gcra, Rate, Taken};

/// The words of quotas that count within a period, in the order of [`Quotas::rates`].
const RATES: [&str; 4] = ["requests_per_s", "numbers_per_s", "numbers_per_day", "new_keys_per_min"];
const REQUESTS: usize = 0;
const NUMBERS: [usize; 2] = [1, 2];
const NEW_KEYS: usize = 3;

/// The word of the quota of requests in work.
const IN_FLIGHT: &str = "in_flight_max";

/// The words of all quotas.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    RATES.into_iter().chain([IN_FLIGHT])
}

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long to wait for the end of another request in work.
const IN_FLIGHT_WAIT: Duration = Duration::from_millis(100);

/// A quota that is used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuotaExceeded {
    pub(super) quota: &'static str,
    pub(super) limit: u64,
    /// When the same request would be let in.
    pub(super) wait: Duration,
}

/// The limits of a principal, and what it has used.
pub(super) struct Quotas {
    rates: [Option<Rate>; RATES.len()],
    in_flight_max: Option<u64>,
    lease_max_count: Option<u64>,
    used: Arc<Used>,
}

/// What a principal has used. It survives reloads.
#[derive(Debug, Default)]
struct Used {
    rates: [Gcra; RATES.len()],
    in_flight: Arc<AtomicU64>,
}

/// Numbers that were taken of every quota of numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct TakenNumbers {
    count: u64,
    taken: [Taken; NUMBERS.len()],
}

impl TakenNumbers {
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}

/// A request in work.
#[derive(Debug)]
pub(super) struct InFlight(Arc<AtomicU64>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Quotas {
    pub(super) fn new(limits: &QuotaLimits) -> Self {
        let rate = |limit: Option<u64>, period| limit.map(|limit| Rate { limit, period });
        Self {
            rates: [
                rate(limits.requests_per_s, SECOND),
                rate(limits.numbers_per_s, SECOND),
                rate(limits.numbers_per_day, DAY),
                rate(limits.new_keys_per_min, MINUTE),
            ],
            in_flight_max: limits.in_flight_max,
            lease_max_count: limits.lease_max_count,
            used: Arc::default(),
        }
    }

    /// The same quotas with what a predecessor has used until now. Where no limit has changed, both count together.
    pub(super) fn following(mut self, before: &Self, now: Duration) -> Self {
        if self.rates == before.rates {
            self.used = Arc::clone(&before.used);
            return self;
        }
        let converted = |at: usize| match (before.rates[at], self.rates[at]) {
            (Some(from), Some(to)) => before.used.rates[at].converted(from, to, now),
            _ => Gcra::default(),
        };
        let rates = [REQUESTS, NUMBERS[0], NUMBERS[1], NEW_KEYS].map(converted);
        self.used = Arc::new(Used { rates, in_flight: Arc::clone(&before.used.in_flight) });
        self
    }

    /// Whether anything is counted within a period.
    pub(super) fn has_rates(&self) -> bool {
        self.rates.iter().any(Option::is_some)
    }

    /// Whether requests are counted.
    pub(super) fn has_requests(&self) -> bool {
        self.rates[REQUESTS].is_some()
    }

    /// Whether new keys are counted.
    pub(super) fn has_new_keys(&self) -> bool {
        self.rates[NEW_KEYS].is_some()
    }

    /// The most numbers of one request, and the quota that says so.
    pub(super) fn numbers_max(&self) -> Option<(&'static str, u64)> {
        let of = |at: usize| Some((RATES[at], self.rates[at]?.limit));
        NUMBERS.into_iter().filter_map(of).min_by_key(|(_, limit)| *limit)
    }

    /// The most numbers of one lease, of the server's `most`.
    pub(super) fn lease_max(&self, most: u64) -> u64 {
        let numbers = self.numbers_max().map(|(_, limit)| limit);
        self.lease_max_count.into_iter().chain(numbers).fold(most, u64::min)
    }

    /// Takes one request.
    pub(super) fn take_request(&self, now: Duration) -> Result<(), QuotaExceeded> {
        self.take(REQUESTS, 1, now).map(drop)
    }

    /// Takes a key that is new.
    pub(super) fn take_key(&self, now: Duration) -> Result<(), QuotaExceeded> {
        self.take(NEW_KEYS, 1, now).map(drop)
    }

    /// Takes numbers of every quota of numbers, or of none.
    pub(super) fn take_numbers(&self, count: u64, now: Duration) -> Result<TakenNumbers, QuotaExceeded> {
        let [per_s, per_day] = NUMBERS;
        let of_second = self.take(per_s, count, now)?;
        let of_day = self.take(per_day, count, now);
        let of_day = of_day.inspect_err(|_| self.give_back(per_s, (count, count), of_second, now))?;
        Ok(TakenNumbers { count, taken: [of_second, of_day] })
    }

    /// Gives back numbers that were taken and not given.
    pub(super) fn give_back_numbers(&self, numbers: TakenNumbers, unused: u64, now: Duration) {
        for (at, taken) in NUMBERS.into_iter().zip(numbers.taken) {
            self.give_back(at, (numbers.count, unused), taken, now);
        }
    }

    /// Takes a request and a number for `ready`. If it has none, nothing is used.
    pub(super) fn take_ready<T>(&self, now: Duration, ready: impl FnOnce() -> Option<T>) -> Option<T> {
        let request = self.take(REQUESTS, 1, now).ok()?;
        let number = self.take_numbers(1, now).ok();
        let found = if number.is_some() { ready() } else { None };
        if found.is_none() {
            self.give_back(REQUESTS, (1, 1), request, now);
            if let Some(number) = number {
                self.give_back_numbers(number, 1, now);
            }
        }
        found
    }

    /// Begins a request in work.
    pub(super) fn begin(&self) -> Result<InFlight, QuotaExceeded> {
        let guard = InFlight(Arc::clone(&self.used.in_flight));
        let before = self.used.in_flight.fetch_add(1, Ordering::Relaxed);
        match self.in_flight_max {
            Some(limit) if before >= limit => {
                Err(QuotaExceeded { quota: IN_FLIGHT, limit, wait: IN_FLIGHT_WAIT })
            }
            _ => Ok(guard),
        }
    }

    /// Each quota with its limit and the part that is used.
    #[allow(clippy::cast_precision_loss, reason = "at most 20,000 requests in work")]
    pub(super) fn shown(&self, now: Duration) -> Vec<(&'static str, u64, f64)> {
        let rate = |at: usize| {
            let rate = self.rates[at]?;
            Some((RATES[at], rate.limit, self.used.rates[at].used(rate, now)))
        };
        let in_flight = || {
            let limit = self.in_flight_max?;
            let used = self.used.in_flight.load(Ordering::Relaxed) as f64 / limit.max(1) as f64;
            Some((IN_FLIGHT, limit, used))
        };
        (0..RATES.len()).filter_map(rate).chain(in_flight()).collect()
    }

    fn take(&self, at: usize, count: u64, now: Duration) -> Result<Taken, QuotaExceeded> {
        let Some(rate) = self.rates[at] else { return Ok(Taken::default()) };
        let exceeded = |wait| QuotaExceeded { quota: RATES[at], limit: rate.limit, wait };
        self.used.rates[at].take(rate, count, now).map_err(exceeded)
    }

    fn give_back(&self, at: usize, part: (u64, u64), taken: Taken, now: Duration) {
        if let Some(rate) = self.rates[at] {
            self.used.rates[at].give_back(rate, part, taken, now);
        }
    }
}
