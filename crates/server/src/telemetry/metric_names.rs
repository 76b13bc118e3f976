//! Names of the server's metrics. What they mean: [`super::metric_table`].

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
