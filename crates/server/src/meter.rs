//! What the doors count: names in one place, handles made once, nothing per number.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use metrics::{Counter, Histogram, Unit};
use sequent_core::{ErrorKind, Scope};
use sequent_engine::{Engine, Reason};

use crate::{bounds::IN_FLIGHT_MAX, fault::Fault};

const REQUESTS: &str = "sequent_requests_total";
const SECONDS: &str = "sequent_request_duration_seconds";
const ISSUED: &str = "sequent_numbers_issued_total";
const SIZES: &str = "sequent_request_numbers";
const IN_FLIGHT: &str = "sequent_requests_in_flight";
const CONNECTIONS: &str = "sequent_connections";
const REFUSED: &str = "sequent_connections_refused_total";
const SLOT_STATE: &str = "sequent_slot_state";
const SLOW_EVENTS: &str = "sequent_slot_slow_events_total";
const RESERVE: &str = "sequent_reserve_numbers";
const KEYS: &str = "sequent_live_keys";
const READY: &str = "sequent_ready";
const BUILD: &str = "sequent_build_info";

/// The states that a slot can be in, for one gauge each.
const SLOT_STATES: [&str; 7] =
    ["live", "evicted", "probation", "quarantined", "draining", "drained", "empty"];

/// Counts of one method of one door.
#[derive(Clone)]
pub(crate) struct Meter {
    done: Counter,
    failed: [Counter; Reason::ALL.len()],
    seconds: Histogram,
    issued: Counter,
    sizes: Histogram,
}

impl Meter {
    /// Every series at zero, so that the first event is seen as an increase.
    pub(crate) fn new(door: &'static str, method: &'static str) -> Self {
        let requests = |reason: &'static str| {
            let counter = metrics::counter!(REQUESTS, "door" => door, "method" => method, "reason" => reason);
            counter.increment(0);
            counter
        };
        Self {
            done: requests("OK"),
            failed: Reason::ALL.map(|reason| requests(reason.as_str())),
            seconds: metrics::histogram!(SECONDS, "door" => door, "method" => method),
            issued: metrics::counter!(ISSUED, "door" => door, "method" => method),
            sizes: metrics::histogram!(SIZES, "door" => door, "method" => method),
        }
    }

    /// A request that got `count` numbers.
    pub(crate) fn done(&self, count: u64, took: Duration) {
        self.done.increment(1);
        self.issued.increment(count);
        self.seconds.record(took.as_secs_f64());
        #[allow(clippy::cast_precision_loss, reason = "counts of a request are far below 2^53")]
        self.sizes.record(count as f64);
    }

    /// A request that failed.
    pub(crate) fn failed(&self, reason: Reason, took: Duration) {
        if let Some(at) = Reason::ALL.iter().position(|known| *known == reason) {
            self.failed[at].increment(1);
        }
        self.seconds.record(took.as_secs_f64());
    }
}

impl Meter {
    /// Counts a request that its door could not even read.
    pub(crate) fn refused(&self, fault: Fault) -> Fault {
        self.failed(fault.reason(), Duration::ZERO);
        fault
    }
}

/// How many requests are in work. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<AtomicUsize>);

/// A request in work.
pub(crate) struct Flying(Arc<AtomicUsize>);

impl InFlight {
    /// One more, unless there are too many.
    pub(crate) fn begin(&self) -> Option<Flying> {
        let flying = Flying(Arc::clone(&self.0));
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        (before < IN_FLIGHT_MAX).then_some(flying)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Flying {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Connections of one listener.
#[derive(Clone)]
pub(crate) struct Lines {
    open: metrics::Gauge,
    refused: [Counter; 2],
    failed: Counter,
}

impl Lines {
    pub(crate) fn new(listener: &'static str) -> Self {
        let refused = |why: &'static str| {
            let counter = metrics::counter!(REFUSED, "listener" => listener, "reason" => why);
            counter.increment(0);
            counter
        };
        let open = metrics::gauge!(CONNECTIONS, "listener" => listener);
        open.set(0.0);
        let full = [refused("too_many"), refused("too_many_of_one_address")];
        Self { open, refused: full, failed: refused("accept_failed") }
    }

    pub(crate) fn opened(&self) {
        self.open.increment(1.0);
    }

    pub(crate) fn closed(&self) {
        self.open.decrement(1.0);
    }

    /// There is no place: at all, or for this address.
    pub(crate) fn refused(&self, of_one_address: bool) {
        self.refused[usize::from(of_one_address)].increment(1);
    }

    pub(crate) fn failed(&self) {
        self.failed.increment(1);
    }
}

/// Gauges that are set when somebody looks.
pub(crate) fn set_ready(ready: bool, in_flight: usize) {
    metrics::gauge!(READY).set(if ready { 1.0 } else { 0.0 });
    #[allow(clippy::cast_precision_loss, reason = "bounded by IN_FLIGHT_MAX")]
    metrics::gauge!(IN_FLIGHT).set(in_flight as f64);
    metrics::gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
}

/// What the engine counts by slot as it happens, at zero from the start: `increase()` sees the first event then.
pub(crate) fn begin(engine: &Engine) {
    let kinds = ErrorKind::ALL.into_iter().filter(|kind| kind.verdict().scope == Scope::Slot);
    let kinds: Vec<&'static str> = kinds.map(ErrorKind::as_str).collect();
    for slot in engine.slots() {
        let slot_label = slot.slot.to_string();
        for name in ["sequent_slot_rescues_total", "sequent_lives_opened_total", "sequent_regressions_total"]
        {
            metrics::counter!(name, "slot" => slot_label.clone()).increment(0);
        }
        for name in ["sequent_slot_evictions_total", "sequent_slot_probes_failed_total"] {
            for kind in &kinds {
                metrics::counter!(name, "slot" => slot_label.clone(), "kind" => *kind).increment(0);
            }
        }
    }
    set_engine(engine, 0);
}

/// The states of the slots and how often they were slow, the keys in use, and the numbers ready over all of them.
pub(crate) fn set_engine(engine: &Engine, reserve: u64) {
    for slot in engine.slots() {
        for known in SLOT_STATES {
            let gauge = metrics::gauge!(SLOT_STATE, "slot" => slot.slot.to_string(), "state" => known);
            gauge.set(if known == slot.state { 1.0 } else { 0.0 });
        }
        metrics::counter!(SLOW_EVENTS, "slot" => slot.slot.to_string()).absolute(slot.slow_events);
    }
    #[allow(clippy::cast_precision_loss, reason = "gauges of what fits in memory")]
    let (keys, reserve) = (engine.live_keys() as f64, reserve as f64);
    metrics::gauge!(KEYS).set(keys);
    metrics::gauge!(RESERVE).set(reserve);
}

/// Tells the recorder what each metric means.
pub(crate) fn describe() {
    let counters = [
        (REQUESTS, "Requests answered, by reason; OK where numbers were given"),
        (ISSUED, "Numbers given"),
        (REFUSED, "Connections that were not taken"),
        (SLOW_EVENTS, "Slow answers, missing ones, and waits for others: some within a while evict a slot"),
    ];
    for (name, meaning) in counters {
        metrics::describe_counter!(name, Unit::Count, meaning);
    }
    metrics::describe_histogram!(SECONDS, Unit::Seconds, "From a request's arrival to its answer");
    metrics::describe_histogram!(SIZES, Unit::Count, "Numbers a request");
    let gauges = [
        (IN_FLIGHT, "Requests in work"),
        (CONNECTIONS, "Open connections"),
        (SLOT_STATE, "1 for the state that a slot is in"),
        (RESERVE, "Numbers ready in memory, over all keys"),
        (KEYS, "Keys in use"),
        (READY, "1 while balancers should send requests"),
        (BUILD, "The version, as a label"),
    ];
    for (name, meaning) in gauges {
        metrics::describe_gauge!(name, Unit::Count, meaning);
    }
}
