//! Metrics of requests and connections. Handles are made once, and nothing is counted per number.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use metrics::{Counter, Gauge, Histogram};
use sequent_engine::{Engine, Reason, Way};

use crate::{
    connection::ended::EndReason,
    error::ApiError,
    limits::IN_FLIGHT_MAX,
    telemetry::{
        from_zero,
        metric_names::{
            BUILD, CONNECTIONS, DRAIN_LIMIT, DRAINING, ENDED, IN_FLIGHT, ISSUED, READY, REFUSED, RELOADED_AT,
            RELOADS, REQUESTS, SECONDS, SIZES, SLOT_STATE, SLOW_EVENTS,
        },
        metric_table::METRICS,
        tls_metrics,
    },
};

/// States of a slot, one gauge each.
pub(super) const SLOT_STATES: [&str; 7] =
    ["live", "evicted", "probation", "quarantined", "draining", "drained", EMPTY];

/// State of a slot without a store.
const EMPTY: &str = "empty";

/// Method whose numbers are leased.
pub(super) const LEASE: &str = "lease";

/// Sources of numbers, in the order of their declaration.
pub(super) const WAYS: [Way; 4] = [Way::Reservoir, Way::Direct, Way::Lease, Way::Dense];

/// Reason of a request that was answered, beside those of errors.
pub(super) const OK: &str = "OK";

/// Reasons for which a connection is not accepted: the limits in total and per address, and a fault.
pub(super) const REFUSALS: [&str; 3] = ["too_many", "too_many_of_one_address", "accept_failed"];
const ACCEPT_FAILED: usize = 2;

/// Reason of a request whose caller disconnected before its response. It is not in the table of errors, since nobody
/// receives it.
pub(super) const CANCELLED: &str = "CANCELLED";

/// Reason of a request that was refused by a quota of its principal. It is no failure of this server, as
/// `QUOTA_EXCEEDED` is: a principal that asks for too much uses up nobody's error budget.
pub(super) const OVER_QUOTA: &str = "PRINCIPAL_QUOTA_EXCEEDED";

/// Metrics of one method of one protocol.
#[derive(Clone)]
pub(crate) struct RequestMetrics {
    done: Counter,
    failed: [Counter; Reason::ALL.len()],
    cancelled: Counter,
    over_quota: Counter,
    seconds: Histogram,
    /// Indexed by source. Sources that the method never uses have no-op counters.
    issued: [Counter; WAYS.len()],
    sizes: Histogram,
}

impl RequestMetrics {
    /// Metrics of a method that yields numbers. All series start at zero, so that the first event is an increase.
    pub(crate) fn new(api: &'static str, method: &'static str) -> Self {
        Self {
            issued: WAYS.map(|way| {
                if (way == Way::Lease) != (method == LEASE) {
                    return Counter::noop();
                }
                from_zero(metrics::counter!(ISSUED, "api" => api, "method" => method, "path" => way.as_str()))
            }),
            sizes: metrics::histogram!(SIZES, "api" => api, "method" => method),
            ..Self::without_numbers(api, method)
        }
    }

    /// Metrics of a method that yields no numbers.
    pub(crate) fn without_numbers(api: &'static str, method: &'static str) -> Self {
        let requests = |reason: &'static str| {
            from_zero(metrics::counter!(REQUESTS, "api" => api, "method" => method, "reason" => reason))
        };
        Self {
            done: requests(OK),
            failed: Reason::ALL.map(|reason| requests(reason.as_str())),
            cancelled: requests(CANCELLED),
            over_quota: requests(OVER_QUOTA),
            seconds: metrics::histogram!(SECONDS, "api" => api, "method" => method),
            issued: WAYS.map(|_| Counter::noop()),
            sizes: Histogram::noop(),
        }
    }

    /// Counts a request that got `count` numbers.
    pub(crate) fn done(&self, (count, way): (u64, Way), took: Duration) {
        self.done.increment(1);
        self.issued[way as usize].increment(count);
        self.measure(count, took);
    }

    /// Counts `count` requests that got a ready number each. They were one take, which is measured once: a sample each would cost
    /// more than the rest of it.
    pub(crate) fn done_singly(&self, count: u64, took: Duration) {
        self.done.increment(count);
        self.issued[Way::Reservoir as usize].increment(count);
        self.measure(count, took);
    }

    /// Measures a take of `count` numbers.
    fn measure(&self, count: u64, took: Duration) {
        self.seconds.record(took.as_secs_f64());
        #[allow(clippy::cast_precision_loss, reason = "counts of a request are far below 2^53")]
        self.sizes.record(count as f64);
    }

    /// Counts a request whose caller disconnected after `took`.
    pub(crate) fn cancelled(&self, took: Duration) {
        self.cancelled.increment(1);
        self.seconds.record(took.as_secs_f64());
    }

    /// Counts a failed request.
    pub(crate) fn failed(&self, error: &ApiError, took: Duration) {
        self.count_failed(error, 1);
        self.seconds.record(took.as_secs_f64());
    }

    /// Counts `count` requests that were refused for the same reason.
    pub(crate) fn refused_each(&self, error: &ApiError, count: u64) {
        self.count_failed(error, count);
        self.seconds.record_many(0.0, usize::try_from(count).unwrap_or(usize::MAX));
    }

    fn count_failed(&self, error: &ApiError, count: u64) {
        if error.is_quota_of_principal() {
            self.over_quota.increment(count);
        } else if let Some(at) = Reason::ALL.iter().position(|known| *known == error.reason()) {
            self.failed[at].increment(count);
        }
    }

    /// Counts a request without numbers by its outcome.
    pub(crate) fn answered<T>(&self, outcome: &Result<T, ApiError>, took: Duration) {
        match outcome {
            Ok(_) => {
                self.done.increment(1);
                self.seconds.record(took.as_secs_f64());
            }
            Err(error) => self.failed(error, took),
        }
    }

    /// Counts a request that could not be read. Returns its error.
    pub(crate) fn refused(&self, error: ApiError) -> ApiError {
        self.failed(&error, Duration::ZERO);
        error
    }
}

/// Requests in flight. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<AtomicUsize>);

/// Guard of a request in flight.
pub(crate) struct InFlightGuard(Arc<AtomicUsize>);

impl InFlight {
    /// Adds a request, unless the limit is reached.
    pub(crate) fn begin(&self) -> Option<InFlightGuard> {
        let guard = InFlightGuard(Arc::clone(&self.0));
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        (before < IN_FLIGHT_MAX).then_some(guard)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Metrics of the connections of one listener.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionMetrics {
    open: Gauge,
    /// In the order of [`REFUSALS`].
    refused: [Counter; REFUSALS.len()],
    ended: [Counter; EndReason::ALL.len()],
}

impl ConnectionMetrics {
    pub(crate) fn new(listener: &'static str) -> Self {
        let refused = REFUSALS
            .map(|why| from_zero(metrics::counter!(REFUSED, "listener" => listener, "reason" => why)));
        let open = metrics::gauge!(CONNECTIONS, "listener" => listener);
        open.set(0.0);
        let ended = EndReason::ALL.map(|reason| {
            from_zero(metrics::counter!(ENDED, "listener" => listener, "why" => reason.as_str()))
        });
        Self { open, refused, ended }
    }

    /// Counts an open connection, until this is dropped.
    pub(crate) fn opened(&self) -> OpenConnection {
        self.open.increment(1.0);
        OpenConnection(self.open.clone())
    }

    /// Counts a connection that was refused because of the limit in total or per address.
    pub(crate) fn refused(&self, of_one_address: bool) {
        self.refused[usize::from(of_one_address)].increment(1);
    }

    pub(crate) fn failed(&self) {
        self.refused[ACCEPT_FAILED].increment(1);
    }

    /// Counts a connection that was ended on account of its peer.
    pub(crate) fn ended(&self, reason: EndReason) {
        self.ended[reason as usize].increment(1);
    }
}

/// Guard of an open connection: counts it in the gauge until it is dropped.
pub(crate) struct OpenConnection(Gauge);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

/// Sets the gauges of the drain: its age, and how long it may take until the engine is shut down.
pub(crate) fn set_drain(since: Duration, limit: Duration) {
    metrics::gauge!(DRAINING).set(since.as_secs_f64());
    metrics::gauge!(DRAIN_LIMIT).set(limit.as_secs_f64());
}

/// Sets the gauges that are only read on a scrape.
pub(crate) fn set_ready(ready: bool, in_flight: usize) {
    metrics::gauge!(READY).set(if ready { 1.0 } else { 0.0 });
    #[allow(clippy::cast_precision_loss, reason = "bounded by IN_FLIGHT_MAX")]
    metrics::gauge!(IN_FLIGHT).set(in_flight as f64);
    metrics::gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
}

/// Sets every series to zero or to its current value, so that `increase()` sees the first event.
pub(crate) async fn begin(engine: &Engine) {
    for outcome in ["ok", "refused"] {
        metrics::counter!(RELOADS, "outcome" => outcome).increment(0);
    }
    tls_metrics::begin();
    engine.begin_metrics().await;
    set_slots(engine);
}

/// Sets the state and the slow events of every slot.
pub(crate) fn set_slots(engine: &Engine) {
    // Slots without a store are skipped: a wide ring may have a thousand of them.
    for slot in engine.slots().into_iter().filter(|slot| slot.state != EMPTY) {
        for known in SLOT_STATES {
            let gauge = metrics::gauge!(SLOT_STATE, "slot" => slot.slot.to_string(), "state" => known);
            gauge.set(if known == slot.state { 1.0 } else { 0.0 });
        }
        metrics::counter!(SLOW_EVENTS, "slot" => slot.slot.to_string()).absolute(slot.slow_events);
    }
}

/// Records a reload: when it took effect, in milliseconds since 1970, or that it was refused.
pub(crate) fn reloaded(taken_up_ms: Option<u64>) {
    let outcome = if taken_up_ms.is_some() { "ok" } else { "refused" };
    metrics::counter!(RELOADS, "outcome" => outcome).increment(1);
    taken_up_ms.into_iter().for_each(loaded);
}

/// Records when the configuration in force was read, in milliseconds since 1970.
pub(crate) fn loaded(at_ms: u64) {
    metrics::gauge!(RELOADED_AT).set(Duration::from_millis(at_ms).as_secs_f64());
}

/// Describes all metrics to the recorder.
pub(crate) fn describe() {
    METRICS.iter().for_each(sequent_engine::describe_metric);
}
