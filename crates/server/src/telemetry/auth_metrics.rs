//! Metrics of principals and refusals. Handles are made once.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use metrics::Counter;
use sequent_engine::Reason;

use crate::{
    auth::NotAuthenticated,
    telemetry::{
        from_zero,
        metric_names::{AUTH_REFUSED, PRINCIPAL_NUMBERS, PRINCIPAL_REQUESTS, QUOTA_USED},
    },
};

/// Listeners whose refusals are counted.
pub(super) const LISTENERS: [&str; 4] = ["grpc", "http", "redis", "admin"];

/// Reason of a principal that may not do something, beside those of callers that are nobody.
pub(super) const DENIED: &str = "denied";

/// Limit on principals with series of their own. Further ones share one.
pub(super) const NAMED_MAX: usize = 200;

/// Label of the principals beyond that.
const OTHER: &str = "other";

/// How often a refusal is logged at most.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Metrics of refusals, and of the principals that were in force.
pub(crate) struct AuthMetrics {
    named: Mutex<BTreeSet<String>>,
    /// By listener and reason: many of one kind don't hide those of another.
    refused: Vec<Refused>,
}

/// Refusals of one listener for one reason.
struct Refused {
    listener: &'static str,
    why: &'static str,
    count: Counter,
    log: Mutex<RefusalLog>,
}

/// When a refusal was logged last, and how many were left out since.
#[derive(Default)]
struct RefusalLog {
    last: Option<Instant>,
    left_out: u64,
}

impl AuthMetrics {
    /// All series start at zero, so that the first event is an increase.
    pub(crate) fn new() -> Self {
        let whys = || NotAuthenticated::ALL.map(NotAuthenticated::as_str).into_iter().chain([DENIED]);
        let all = LISTENERS.into_iter().flat_map(|listener| whys().map(move |why| (listener, why)));
        let refused = |(listener, why)| {
            let count = from_zero(metrics::counter!(AUTH_REFUSED, "listener" => listener, "why" => why));
            Refused { listener, why, count, log: Mutex::default() }
        };
        Self { named: Mutex::default(), refused: all.map(refused).collect() }
    }

    /// Counts a refusal. If it should be logged, returns how many were not since the last one.
    pub(crate) fn refused(&self, listener: &'static str, why: &'static str, now: Instant) -> Option<u64> {
        let found = self.refused.iter().find(|refused| (refused.listener, refused.why) == (listener, why))?;
        found.count.increment(1);
        let mut log = found.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.last.is_some_and(|last| now.saturating_duration_since(last) < LINE_EVERY) {
            log.left_out += 1;
            return None;
        }
        log.last = Some(now);
        Some(std::mem::take(&mut log.left_out))
    }

    /// Metrics of a principal: its own, or those of all further ones.
    pub(crate) fn principal(&self, name: &str) -> PrincipalMetrics {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if named.len() < NAMED_MAX {
            named.insert(name.to_owned());
        }
        PrincipalMetrics::of(if named.contains(name) { name } else { OTHER })
    }
}

/// Metrics of a principal.
pub(crate) struct PrincipalMetrics {
    name: Option<String>,
    done: Counter,
    failed: [Counter; Reason::ALL.len()],
    numbers: Counter,
}

impl PrincipalMetrics {
    fn of(name: &str) -> Self {
        let requests = |reason: &'static str| {
            from_zero(
                metrics::counter!(PRINCIPAL_REQUESTS, "principal" => name.to_owned(), "reason" => reason),
            )
        };
        let numbers = from_zero(metrics::counter!(PRINCIPAL_NUMBERS, "principal" => name.to_owned()));
        let failed = Reason::ALL.map(|reason| requests(reason.as_str()));
        // Principals without series of their own have no gauges: the last one would overwrite the others.
        let name = Some(name.to_owned()).filter(|name| name != OTHER);
        Self { name, done: requests("OK"), failed, numbers }
    }

    /// Nothing is counted: the caller is no principal.
    pub(crate) fn none() -> Self {
        let failed = Reason::ALL.map(|_| Counter::noop());
        Self { name: None, done: Counter::noop(), failed, numbers: Counter::noop() }
    }

    /// Counts numbers that were ready, of as many requests.
    pub(crate) fn ready(&self, numbers: u64) {
        self.done.increment(numbers);
        self.numbers.increment(numbers);
    }

    /// Counts an answered request.
    pub(crate) fn answered(&self, failed: Option<Reason>, numbers: u64) {
        match failed {
            None => self.done.increment(1),
            Some(reason) => self.refused(reason, 1),
        }
        self.numbers.increment(numbers);
    }

    /// Counts requests that were refused for one reason.
    pub(crate) fn refused(&self, reason: Reason, count: u64) {
        let at = Reason::ALL.iter().position(|known| *known == reason);
        at.inspect(|at| self.failed[*at].increment(count));
    }

    /// Sets the used part of a quota.
    pub(crate) fn used(&self, quota: &'static str, used: f64) {
        if let Some(name) = &self.name {
            metrics::gauge!(QUOTA_USED, "principal" => name.clone(), "quota" => quota).set(used);
        }
    }
}
