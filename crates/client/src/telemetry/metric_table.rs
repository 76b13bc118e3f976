//! The table of the client's metrics. The page of metrics has it, and a test compares it with what a program shows.

use sequent_core::{Label, Metric, MetricGroup::Sdk};

use crate::{
    error::Error,
    telemetry::client_metrics::{
        BURNT, ERRORS, EVICTIONS, ISSUED, LEASED, LEASES, LIVE, OUT, PATHS, REQUESTS, RESCUES, RESERVE,
        SECONDS, TLS_REFUSED, VERBS, outcomes, reasons,
    },
    transport::Verb,
};

const NONE: &[Label] = &[];

const PATH: Label = Label::of("path", || PATHS.to_vec());
const WHY: Label = Label::of("why", || reasons().collect());
const VERB: Label = Label::of("verb", || VERBS.map(Verb::as_str).to_vec());
const OUTCOME: Label = Label::of("outcome", || outcomes().collect());
const REASON: Label = Label::of("reason", || Error::labels().collect());

/// The endpoint's place in the list that the client was given, from 0.
const ENDPOINT: Label = Label::open("endpoint");

/// All metrics of the client.
pub static METRICS: &[Metric] = &[
    Metric::counter(
        Sdk,
        ISSUED,
        &[PATH],
        "Numbers handed to callers: from a lease, one by one from a server (fresh), or many from a server (batch).",
    ),
    Metric::counter(Sdk, LEASED, NONE, "Numbers that came with leases."),
    Metric::counter(Sdk, LEASES, NONE, "Leases that were granted."),
    Metric::counter(Sdk, BURNT, &[WHY], "Numbers that nobody will get, by reason."),
    Metric::gauge(
        Sdk,
        RESERVE,
        NONE,
        "Leased numbers ready in memory, over all clients and sequences of the program.",
    ),
    Metric::counter(
        Sdk,
        REQUESTS,
        &[VERB, OUTCOME],
        "Requests to an endpoint: ok, a reason of the table of errors, or the endpoint's own fault (unavailable, timeout).",
    ),
    Metric::histogram(
        Sdk,
        SECONDS,
        &[VERB],
        "How long an endpoint took to answer. A summary if the program's recorder makes summaries.",
    ),
    Metric::counter(Sdk, ERRORS, &[REASON], "Calls that failed, by reason."),
    Metric::gauge(
        Sdk,
        LIVE,
        &[ENDPOINT],
        "Clients of the program that have an endpoint in use, or may use it. The label is its place in the client's list, from 0.",
    ),
    Metric::gauge(Sdk, OUT, &[ENDPOINT], "Clients of the program that have an endpoint out."),
    Metric::counter(Sdk, EVICTIONS, &[ENDPOINT], "Times that an endpoint was put out."),
    Metric::counter(Sdk, RESCUES, &[ENDPOINT], "Times that an endpoint came back."),
    Metric::counter(
        Sdk,
        TLS_REFUSED,
        NONE,
        "Connections whose files of TLS were faulty. The last sound ones were used.",
    ),
];
