//! The table of the metrics of the server, the process and its runtime. The page of metrics has it, and tests compare it
//! with what a server shows. The engine's are in `sequent_engine::METRICS`.

use sequent_core::{
    Label, Metric,
    MetricGroup::{Access, Apis, Process, Slots},
};

use super::{
    metric_labels::{
        API, AUDIT_OUTCOME, DENIAL, END_REASON, FILE, HANDSHAKE, LISTENER, METHOD, NUMBERS_METHOD, PATH,
        PRINCIPAL, PRINCIPAL_REASON, QUOTA, REASON, REFUSAL, RELOAD, SLOT, STATE, VERSION,
    },
    metric_names::{
        AUDIT_LINES, AUDIT_UNWRITABLE, AUTH_REFUSED, BUILD, BUSY, CONNECTIONS, DRAIN_LIMIT, DRAINING, ENDED,
        IN_FLIGHT, ISSUED, PARKS, PRINCIPAL_NUMBERS, PRINCIPAL_REQUESTS, QUEUE, QUOTA_USED, READY, REFUSED,
        RELOADED_AT, RELOADS, REQUESTS, SECONDS, SIZES, SLOT_STATE, SLOW_EVENTS, TASKS, TLS_EXPIRY,
        TLS_HANDSHAKES, TLS_REFUSED, TLS_RELOADS, WORKERS,
    },
};

const NONE: &[Label] = &[];

/// All metrics of the server without those of its engine.
pub static METRICS: &[Metric] = &[
    Metric::counter(
        Apis,
        REQUESTS,
        &[API, METHOD, REASON],
        "Requests, by reason. OK: numbers or a definition were given. CANCELLED: the caller of next or lease disconnected before its answer. PRINCIPAL_QUOTA_EXCEEDED: a quota of the caller's principal was used up, which QUOTA_EXCEEDED does not count. Equal INCR of a Redis pipeline that wait together are one request.",
    ),
    Metric::histogram(
        Apis,
        SECONDS,
        &[API, METHOD],
        "From a request's arrival to its answer, failed ones too. `INCR`s of a pipeline that one take answers are one. Buckets from 10 µs to \
         5 s.",
    ),
    Metric::counter(
        Apis,
        ISSUED,
        &[API, NUMBERS_METHOD, PATH],
        "Numbers given, by where they came from: ready in the reservoir, direct from the shards, on a lease to an SDK, or counted by the ledger (dense).",
    ),
    Metric::histogram(
        Apis,
        SIZES,
        &[API, NUMBERS_METHOD],
        "Numbers per request. `INCR`s of a pipeline that one take answers are one.",
    ),
    Metric::gauge(Apis, IN_FLIGHT, NONE, "Requests for numbers in work. 20,000 at most."),
    Metric::gauge(Apis, CONNECTIONS, &[LISTENER], "Open connections."),
    Metric::counter(Apis, REFUSED, &[LISTENER, REFUSAL], "Connections that were not accepted."),
    Metric::counter(
        Apis,
        ENDED,
        &[LISTENER, END_REASON],
        "Connections that the server ended on account of their peer. made_room: another one needed the place; flood: bytes without requests.",
    ),
    Metric::counter(
        Access,
        AUTH_REFUSED,
        &[LISTENER, DENIAL],
        "Requests refused: without a token (missing), with a wrong one (unknown), with one that is over (expired), or of a principal that may not do it (denied).",
    ),
    Metric::counter(
        Access,
        PRINCIPAL_REQUESTS,
        &[PRINCIPAL, PRINCIPAL_REASON],
        "Requests of a principal, by reason. 200 principals have series of their own; further ones share other.",
    ),
    Metric::counter(Access, PRINCIPAL_NUMBERS, &[PRINCIPAL], "Numbers given to a principal."),
    Metric::gauge(
        Access,
        QUOTA_USED,
        &[PRINCIPAL, QUOTA],
        "The part of a principal's quota that is used on this server, 0 to 1. Only of principals with series of their own.",
    ),
    Metric::counter(
        Access,
        TLS_HANDSHAKES,
        &[LISTENER, HANDSHAKE],
        "Connections of a listener with TLS, by how they began. plaintext is served or refused, by tls.mode.",
    ),
    Metric::counter(
        Access,
        TLS_RELOADS,
        &[RELOAD],
        "Times that certificate, key and authorities were read again, by whether they were taken.",
    ),
    Metric::gauge(
        Access,
        TLS_REFUSED,
        NONE,
        "1 while changed files of TLS are refused, and the old ones are in force.",
    ),
    Metric::gauge(
        Access,
        TLS_EXPIRY,
        &[FILE],
        "When the first certificate of a file in force expires, in seconds since 1970. No series without TLS.",
    ),
    Metric::counter(
        Access,
        AUDIT_LINES,
        &[AUDIT_OUTCOME],
        "Lines of the audit log. lost: the file could not be written, or was too slow.",
    ),
    Metric::gauge(Access, AUDIT_UNWRITABLE, NONE, "1 while the audit log can't be written. Requests go on."),
    Metric::gauge(Slots, SLOT_STATE, &[SLOT, STATE], "1 for the state that a slot is in, 0 for the others."),
    Metric::counter(
        Slots,
        SLOW_EVENTS,
        &[SLOT],
        "Slow answers, missing ones, and waits for others. A slot is evicted after ring.slow_limit of them within ring.slow_window_s.",
    ),
    Metric::gauge(Process, READY, NONE, "1 while balancers should send requests."),
    Metric::gauge(
        Process,
        DRAINING,
        NONE,
        "How long the server has been draining; 0 while it serves. The admin listener answers until the engine is shut down.",
    ),
    Metric::gauge(
        Process,
        DRAIN_LIMIT,
        NONE,
        "How long a drain may take: limits.drain_delay_s and limits.drain_timeout_s together. The engine is shut down after that.",
    ),
    Metric::gauge(Process, BUILD, &[VERSION], "The version, as a label. Always 1."),
    Metric::counter(
        Process,
        RELOADS,
        &[RELOAD],
        "Times that the configuration was read again, by whether it was taken.",
    ),
    Metric::gauge(
        Process,
        RELOADED_AT,
        NONE,
        "When the configuration in force was read, in seconds since 1970.",
    ),
    Metric::gauge(
        Process,
        BUSY,
        NONE,
        "The part of the runtime threads' time that was spent on tasks, over the last second.",
    ),
    Metric::gauge(Process, WORKERS, NONE, "Threads of the runtime."),
    Metric::gauge(Process, TASKS, NONE, "Tasks that are alive."),
    Metric::gauge(Process, QUEUE, NONE, "Tasks that wait for any thread of the runtime."),
    Metric::counter(Process, PARKS, NONE, "Times that a thread of the runtime had nothing to do."),
];

/// The usual metrics of a process, which another library names, describes and measures. On Linux there are all of them.
pub static PROCESS_METRICS: &[Metric] = &[
    Metric::counter(Process, "process_cpu_seconds_total", NONE, "Processor time, of user and system."),
    Metric::gauge(Process, "process_resident_memory_bytes", NONE, "Resident memory."),
    Metric::gauge(Process, "process_virtual_memory_bytes", NONE, "Virtual memory."),
    Metric::gauge(Process, "process_virtual_memory_max_bytes", NONE, "Virtual memory that is allowed."),
    Metric::gauge(Process, "process_open_fds", NONE, "Open file descriptors."),
    Metric::gauge(Process, "process_max_fds", NONE, "File descriptors that are allowed."),
    Metric::gauge(Process, "process_threads", NONE, "Threads."),
    Metric::gauge(
        Process,
        "process_start_time_seconds",
        NONE,
        "When the process was started, in seconds since 1970.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{limits::IN_FLIGHT_MAX, telemetry::auth_metrics::NAMED_MAX};

    #[test]
    fn the_bounds_that_meanings_name_are_in_force() {
        let meaning = |name| METRICS.iter().find(|metric| metric.name == name).unwrap().meaning;
        let bound = format!("{},000 at most", IN_FLIGHT_MAX / 1000);
        assert!(IN_FLIGHT_MAX.is_multiple_of(1000) && meaning(IN_FLIGHT).contains(&bound), "{bound}");
        assert!(meaning(PRINCIPAL_REQUESTS).contains(&format!("{NAMED_MAX} principals")));
    }
}
