//! Metrics of the client: names, values of labels, and what changes them. What they mean: [`super::metric_table`].

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use sequent_buffer::DISCARD_REASONS;
use sequent_core::{ErrorKind, Metric, MetricKind, SlotIndex};

use crate::{
    error::Error,
    telemetry::{
        gauge_share::{EndpointGauges, GaugeShare},
        metric_table::METRICS,
    },
    transport::Verb,
};

pub(super) const ISSUED: &str = "sequent_client_numbers_issued_total";
pub(super) const LEASED: &str = "sequent_client_numbers_leased_total";
pub(super) const BURNT: &str = "sequent_client_numbers_burnt_total";
pub(super) const RESERVE: &str = "sequent_client_reserve_numbers";
pub(super) const LEASES: &str = "sequent_client_leases_total";
pub(super) const REQUESTS: &str = "sequent_client_requests_total";
pub(super) const SECONDS: &str = "sequent_client_request_seconds";
pub(super) const ERRORS: &str = "sequent_client_errors_total";
pub(super) const LIVE: &str = "sequent_client_endpoint_live";
pub(super) const OUT: &str = "sequent_client_endpoint_out";
pub(super) const EVICTIONS: &str = "sequent_client_endpoint_evictions_total";
pub(super) const RESCUES: &str = "sequent_client_endpoint_rescues_total";
pub(super) const TLS_REFUSED: &str = "sequent_client_tls_files_refused_total";

/// Values of the label `path`.
pub(super) const PATHS: [&str; 3] = ["lease", "fresh", "batch"];

/// Values of the label `verb`.
pub(super) const VERBS: [Verb; 2] = [Verb::Next, Verb::Lease];

/// Reasons for burnt numbers.
pub(crate) const UNAWAITED: &str = "answered when nobody waited any more";
pub(crate) const VERSION_ENDED: &str = "its version ended";
pub(crate) const PIECES: &str = "a lease of too many pieces";

/// All reasons for burnt numbers, with those of the reservoir. An unknown one counts as [`OTHER`].
pub(super) fn reasons() -> impl Iterator<Item = &'static str> {
    [UNAWAITED, VERSION_ENDED, PIECES, OTHER].into_iter().chain(DISCARD_REASONS)
}

/// Outcomes of requests besides the [reasons](Error::labels) of errors.
pub(crate) const OK: &str = "ok";
const FAULTS: [ErrorKind; 2] = [ErrorKind::Unavailable, ErrorKind::Timeout];

const OTHER: &str = "other";

/// All outcomes of requests.
pub(super) fn outcomes() -> impl Iterator<Item = &'static str> {
    [OK].into_iter().chain(FAULTS.map(ErrorKind::as_str)).chain(Error::labels())
}

/// Calls the program's recorder and catches its panics, so that calls and leases continue. The panic hook has run.
pub(crate) fn with_recorder_guarded(work: impl FnOnce()) {
    drop(catch_unwind(AssertUnwindSafe(work)));
}

/// Describes all metrics to the program's recorder.
pub(crate) fn describe() {
    with_recorder_guarded(|| {
        for Metric { name, kind, meaning, .. } in METRICS {
            match kind {
                MetricKind::Counter => describe_counter!(*name, *meaning),
                MetricKind::Gauge => describe_gauge!(*name, *meaning),
                MetricKind::Histogram => describe_histogram!(*name, Unit::Seconds, *meaning),
            }
        }
    });
    with_recorder_guarded(begin);
}

/// Sets every series to zero, so that the first event is an increase. Series of endpoints start with each endpoint.
fn begin() {
    for path in PATHS {
        counter!(ISSUED, "path" => path).increment(0);
    }
    for why in reasons() {
        counter!(BURNT, "why" => why).increment(0);
    }
    for verb in VERBS.map(Verb::as_str) {
        for outcome in outcomes() {
            counter!(REQUESTS, "verb" => verb, "outcome" => outcome).increment(0);
        }
        drop(histogram!(SECONDS, "verb" => verb));
    }
    for reason in Error::labels() {
        counter!(ERRORS, "reason" => reason).increment(0);
    }
    counter!(LEASES).increment(0);
    counter!(LEASED).increment(0);
    counter!(TLS_REFUSED).increment(0);
    gauge!(RESERVE).increment(0.0);
}

pub(crate) fn issued(path: &'static str, count: u64) {
    if count > 0 {
        with_recorder_guarded(|| counter!(ISSUED, "path" => path).increment(count));
    }
}

pub(crate) fn leased(count: u64) {
    with_recorder_guarded(|| {
        counter!(LEASES).increment(1);
        counter!(LEASED).increment(count);
    });
}

pub(crate) fn burnt(why: &'static str, count: u64) {
    if count > 0 {
        let why = reasons().find(|known| *known == why).unwrap_or(OTHER);
        with_recorder_guarded(|| counter!(BURNT, "why" => why).increment(count));
    }
}

/// Share of a client in the gauge of leased numbers.
pub(crate) fn reserve() -> GaugeShare {
    GaugeShare::new(|| gauge!(RESERVE))
}

/// Label of an endpoint's error.
pub(crate) fn fault(kind: ErrorKind) -> &'static str {
    if FAULTS.contains(&kind) { kind.as_str() } else { OTHER }
}

pub(crate) fn request(verb: &'static str, outcome: &'static str, took: Duration) {
    with_recorder_guarded(|| {
        counter!(REQUESTS, "verb" => verb, "outcome" => outcome).increment(1);
        histogram!(SECONDS, "verb" => verb).record(took);
    });
}

pub(crate) fn failed(error: &Error) {
    with_recorder_guarded(|| counter!(ERRORS, "reason" => error.label()).increment(1));
}

/// Gauges of an endpoint. Its label is its position in the client's list, from 0: addresses would be labels without
/// bound.
pub(crate) fn endpoint(place: SlotIndex) -> EndpointGauges {
    with_recorder_guarded(|| {
        for name in [EVICTIONS, RESCUES] {
            counter!(name, "endpoint" => place.to_string()).increment(0);
        }
    });
    let part = |name| GaugeShare::new(move || gauge!(name, "endpoint" => place.to_string()));
    EndpointGauges::new(part(LIVE), part(OUT))
}

/// Counts an endpoint that came back, or that was put out.
pub(crate) fn endpoint_changed(place: SlotIndex, is_live: bool) {
    let name = if is_live { RESCUES } else { EVICTIONS };
    with_recorder_guarded(|| counter!(name, "endpoint" => place.to_string()).increment(1));
}

/// Counts files of TLS that were faulty when a connection began. The last sound ones were used.
pub(crate) fn tls_files_refused() {
    with_recorder_guarded(|| counter!(TLS_REFUSED).increment(1));
}
