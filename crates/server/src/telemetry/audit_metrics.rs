//! Metrics of the audit log.

use crate::telemetry::metric_names::{AUDIT_LINES, AUDIT_UNWRITABLE};

/// Starts the counters at zero, so that the first event is an increase.
pub(crate) fn begin() {
    count("written", 0);
    count("lost", 0);
    unwritable(false);
}

/// Counts a line that is in the file.
pub(crate) fn written() {
    count("written", 1);
}

/// Counts lines that are in no file.
pub(crate) fn lost(lines: u64) {
    count("lost", lines);
}

/// Sets whether the file can't be written.
pub(crate) fn unwritable(is_unwritable: bool) {
    metrics::gauge!(AUDIT_UNWRITABLE).set(if is_unwritable { 1.0 } else { 0.0 });
}

fn count(outcome: &'static str, lines: u64) {
    metrics::counter!(AUDIT_LINES, "outcome" => outcome).increment(lines);
}
