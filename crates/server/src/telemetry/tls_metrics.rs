//! Metrics of TLS: handshakes, reloads, and when certificates expire.

use metrics::Counter;

use crate::telemetry::{
    from_zero,
    metric_names::{TLS_EXPIRY, TLS_HANDSHAKES, TLS_REFUSED, TLS_RELOADS},
};

/// Keys of `[tls]` whose files hold certificates.
pub(super) const CERTIFICATES: [&str; 2] = ["cert_file", "client_ca_file"];

/// How the beginning of a connection ended on a listener with TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// With TLS.
    Done,
    /// It began with plaintext: served or refused, by `tls.mode`.
    Plaintext,
    /// The client's certificate is missing, not signed by a known authority, expired, or has no allowed name.
    Certificate,
    /// Any other fault.
    Failed,
    /// It took longer than allowed.
    Timeout,
}

/// Outcomes in the order of their declaration.
pub(super) const OUTCOMES: [&str; 5] = ["ok", "plaintext", "certificate", "failed", "timeout"];

/// Handshakes of one listener.
pub(crate) struct HandshakeMetrics([Counter; OUTCOMES.len()]);

impl HandshakeMetrics {
    pub(crate) fn new(listener: &'static str) -> Self {
        Self(OUTCOMES.map(|outcome| {
            from_zero(metrics::counter!(TLS_HANDSHAKES, "listener" => listener, "outcome" => outcome))
        }))
    }

    pub(crate) fn count(&self, outcome: Handshake) {
        self.0[outcome as usize].increment(1);
    }
}

/// Counts a reading of the files while the server runs.
pub(crate) fn reloaded(is_ok: bool) {
    for (outcome, count) in [("ok", u64::from(is_ok)), ("refused", u64::from(!is_ok))] {
        metrics::counter!(TLS_RELOADS, "outcome" => outcome).increment(count);
    }
    metrics::gauge!(TLS_REFUSED).set(if is_ok { 0.0 } else { 1.0 });
}

/// Sets when the first certificate of each file expires. A file that is not in use has no series: a value that is not a number ends it.
pub(crate) fn expiries(files: &(impl Iterator<Item = (&'static str, u64)> + Clone)) {
    for key in CERTIFICATES {
        let found = files.clone().find(|(file, _)| *file == key);
        #[allow(clippy::cast_precision_loss, reason = "seconds since 1970 are far below 2^53")]
        let at_s = found.map_or(f64::NAN, |(_, at_s)| at_s as f64);
        metrics::gauge!(TLS_EXPIRY, "file" => key).set(at_s);
    }
}

/// Starts the counters at zero, so that the first event is an increase.
pub(crate) fn begin() {
    for outcome in ["ok", "refused"] {
        metrics::counter!(TLS_RELOADS, "outcome" => outcome).increment(0);
    }
    metrics::gauge!(TLS_REFUSED).set(0.0);
}
