//! Names, labels and descriptions of the metrics of the server, the process and its runtime. The engine's are in
//! `sequent_engine::METRICS`.

use sequent_engine::Metric;

pub(crate) const REQUESTS: &str = "sequent_requests_total";
pub(crate) const SECONDS: &str = "sequent_request_duration_seconds";
pub(crate) const ISSUED: &str = "sequent_numbers_issued_total";
pub(crate) const SIZES: &str = "sequent_request_numbers";
pub(crate) const IN_FLIGHT: &str = "sequent_requests_in_flight";
pub(crate) const CONNECTIONS: &str = "sequent_connections";
pub(crate) const REFUSED: &str = "sequent_connections_refused_total";
pub(crate) const ENDED: &str = "sequent_connections_ended_total";
pub(crate) const SLOT_STATE: &str = "sequent_slot_state";
pub(crate) const SLOW_EVENTS: &str = "sequent_slot_slow_events_total";
pub(crate) const READY: &str = "sequent_ready";
pub(crate) const DRAINING: &str = "sequent_draining_seconds";
pub(crate) const DRAIN_LIMIT: &str = "sequent_drain_limit_seconds";
pub(crate) const BUILD: &str = "sequent_build_info";
pub(crate) const RELOADS: &str = "sequent_config_reloads_total";
pub(crate) const RELOADED_AT: &str = "sequent_config_last_reload_success_timestamp_seconds";
pub(crate) const BUSY: &str = "sequent_runtime_busy_ratio";
pub(crate) const WORKERS: &str = "sequent_runtime_workers";
pub(crate) const TASKS: &str = "sequent_runtime_alive_tasks";
pub(crate) const QUEUE: &str = "sequent_runtime_queue_depth";
pub(crate) const TLS_HANDSHAKES: &str = "sequent_tls_handshakes_total";
pub(crate) const TLS_RELOADS: &str = "sequent_tls_reloads_total";
pub(crate) const TLS_REFUSED: &str = "sequent_tls_reload_refused";
pub(crate) const TLS_EXPIRY: &str = "sequent_tls_certificate_expiry_timestamp_seconds";
pub(crate) const PARKS: &str = "sequent_runtime_parks_total";

pub(crate) const AUTH_REFUSED: &str = "sequent_auth_refused_total";
pub(crate) const PRINCIPAL_REQUESTS: &str = "sequent_principal_requests_total";
pub(crate) const PRINCIPAL_NUMBERS: &str = "sequent_principal_numbers_total";
pub(crate) const AUDIT_LINES: &str = "sequent_audit_lines_total";
pub(crate) const AUDIT_UNWRITABLE: &str = "sequent_audit_unwritable";
pub(crate) const QUOTA_USED: &str = "sequent_quota_used_ratio";

/// All metrics of the server without those of its engine. The metrics `process_…` are the usual ones of Prometheus
/// clients.
pub static METRICS: &[Metric] = &[
    Metric::counter(
        REQUESTS,
        &["api", "method", "reason"],
        "Requests, by reason; OK where numbers were given, CANCELLED where the caller hung up before its answer",
    ),
    Metric::histogram(SECONDS, &["api", "method"], "From a request's arrival to its answer"),
    Metric::counter(
        ISSUED,
        &["api", "method", "path"],
        "Numbers given, by where they came from: ready in the reservoir, direct from shards, lent, or counted by the ledger",
    ),
    Metric::histogram(SIZES, &["api", "method"], "Numbers a request"),
    Metric::gauge(IN_FLIGHT, &[], "Requests for numbers in work"),
    Metric::gauge(CONNECTIONS, &["listener"], "Open connections"),
    Metric::counter(REFUSED, &["listener", "reason"], "Connections that were not taken"),
    Metric::counter(
        ENDED,
        &["listener", "why"],
        "Connections that were ended on account of their peer: made_room for another one, or slow, idle, unread, flood, protocol",
    ),
    Metric::counter(
        AUTH_REFUSED,
        &["listener", "why"],
        "Requests refused since their caller was nobody, or might not do it",
    ),
    Metric::counter(
        PRINCIPAL_REQUESTS,
        &["principal", "reason"],
        "Requests of principals, by reason; OK where they were answered",
    ),
    Metric::counter(PRINCIPAL_NUMBERS, &["principal"], "Numbers given to principals"),
    Metric::gauge(QUOTA_USED, &["principal", "quota"], "Part of a principal's quota that is used, 0 to 1"),
    Metric::counter(
        AUDIT_LINES,
        &["outcome"],
        "Lines of the audit log, by whether they are in the file: written, or lost",
    ),
    Metric::gauge(AUDIT_UNWRITABLE, &[], "1 while the audit log can't be written"),
    Metric::gauge(SLOT_STATE, &["slot", "state"], "1 for the state that a slot is in"),
    Metric::counter(
        SLOW_EVENTS,
        &["slot"],
        "Slow answers, missing ones, and waits for others: some within a while evict a slot",
    ),
    Metric::gauge(READY, &[], "1 while balancers should send requests"),
    Metric::gauge(DRAINING, &[], "For how long this server has been draining; 0 while it serves"),
    Metric::gauge(
        DRAIN_LIMIT,
        &[],
        "How long balancers, and then requests in work, are given in a drain: its engine is shut down after that",
    ),
    Metric::gauge(BUILD, &["version"], "The version, as a label"),
    Metric::counter(
        RELOADS,
        &["outcome"],
        "Times that the configuration was read again, by whether it was taken up",
    ),
    Metric::gauge(RELOADED_AT, &[], "When the configuration in force was read, in seconds since 1970"),
    Metric::counter(
        TLS_HANDSHAKES,
        &["listener", "outcome"],
        "Connections of a listener with TLS, by how they began; plaintext is served or refused, by tls.mode",
    ),
    Metric::counter(
        TLS_RELOADS,
        &["outcome"],
        "Times that certificate, key and authorities were read again, by whether they were taken up",
    ),
    Metric::gauge(
        TLS_REFUSED,
        &[],
        "1 while changed files of TLS are refused, and the old ones are in force",
    ),
    Metric::gauge(
        TLS_EXPIRY,
        &["file"],
        "When the first certificate of a file in force expires, in seconds since 1970",
    ),
    Metric::gauge(
        BUSY,
        &[],
        "Part of the runtime's threads' time that was spent on tasks, over the last second",
    ),
    Metric::gauge(WORKERS, &[], "Threads of the runtime"),
    Metric::gauge(TASKS, &[], "Tasks that are alive"),
    Metric::gauge(QUEUE, &[], "Tasks that wait for any thread of the runtime"),
    Metric::counter(PARKS, &[], "Times that a thread of the runtime had nothing to do"),
];
