//! Metrics of the client: names, labels and descriptions.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use sequent_buffer::DISCARD_REASONS;
use sequent_core::{ErrorKind, SlotIndex};

use crate::{
    error::Error,
    telemetry::gauge_share::{EndpointGauges, GaugeShare},
    transport::Verb,
};

const ISSUED: &str = "sequent_client_numbers_issued_total";
const LEASED: &str = "sequent_client_numbers_leased_total";
const BURNT: &str = "sequent_client_numbers_burnt_total";
const RESERVE: &str = "sequent_client_reserve_numbers";
const LEASES: &str = "sequent_client_leases_total";
const REQUESTS: &str = "sequent_client_requests_total";
const SECONDS: &str = "sequent_client_request_seconds";
const ERRORS: &str = "sequent_client_errors_total";
const LIVE: &str = "sequent_client_endpoint_live";
const OUT: &str = "sequent_client_endpoint_out";
const EVICTIONS: &str = "sequent_client_endpoint_evictions_total";
const RESCUES: &str = "sequent_client_endpoint_rescues_total";
const TLS_REFUSED: &str = "sequent_client_tls_files_refused_total";

/// Values of the label `path`.
const PATHS: [&str; 3] = ["lease", "fresh", "batch"];

/// Reasons for burnt numbers.
pub(crate) const UNAWAITED: &str = "answered when nobody waited any more";
pub(crate) const VERSION_ENDED: &str = "its version ended";
pub(crate) const PIECES: &str = "a lease of too many pieces";

/// All reasons for burnt numbers, with those of the reservoir. An unknown one counts as [`OTHER`].
fn reasons() -> impl Iterator<Item = &'static str> {
    [UNAWAITED, VERSION_ENDED, PIECES, OTHER].into_iter().chain(DISCARD_REASONS)
}

/// Outcomes of requests besides the [reasons](Error::labels) of errors.
pub(crate) const OK: &str = "ok";
const FAULTS: [ErrorKind; 2] = [ErrorKind::Unavailable, ErrorKind::Timeout];

const OTHER: &str = "other";

/// Calls the program's recorder and catches its panics, so that calls and leases continue. The panic hook has run.
pub(crate) fn with_recorder_guarded(work: impl FnOnce()) {
    drop(catch_unwind(AssertUnwindSafe(work)));
}

/// Describes all metrics to the program's recorder.
pub(crate) fn describe() {
    with_recorder_guarded(|| {
        describe_counter!(ISSUED, "Numbers handed to callers, from leases or asked for fresh");
        describe_counter!(LEASED, "Numbers that came with leases");
        describe_counter!(
            TLS_REFUSED,
            "Connections whose files of TLS were faulty: the last sound ones were used"
        );
        describe_counter!(BURNT, "Numbers that nobody will get, by why: aged, dropped, answered too late");
        describe_gauge!(RESERVE, "Leased numbers ready in memory, over all clients and sequences");
        describe_counter!(LEASES, "Leases that were granted");
        describe_counter!(REQUESTS, "Requests to an endpoint, by verb and outcome");
        describe_histogram!(SECONDS, Unit::Seconds, "How long an endpoint took to answer");
        describe_counter!(ERRORS, "Calls that failed, by reason");
        describe_gauge!(LIVE, "Clients that have an endpoint in use, or may use it");
        describe_gauge!(OUT, "Clients that have an endpoint out");
        describe_counter!(EVICTIONS, "How often an endpoint was put out");
        describe_counter!(RESCUES, "How often an endpoint came back");
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
    for verb in [Verb::Next, Verb::Lease].map(Verb::as_str) {
        for outcome in [OK].into_iter().chain(FAULTS.map(ErrorKind::as_str)).chain(Error::labels()) {
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

pub(crate) fn evicted(place: SlotIndex) {
    with_recorder_guarded(|| counter!(EVICTIONS, "endpoint" => place.to_string()).increment(1));
}

/// Counts files of TLS that were faulty when a connection began. The last sound ones were used.
pub(crate) fn tls_files_refused() {
    with_recorder_guarded(|| counter!(TLS_REFUSED).increment(1));
}

pub(crate) fn rescued(place: SlotIndex) {
    with_recorder_guarded(|| counter!(RESCUES, "endpoint" => place.to_string()).increment(1));
}
