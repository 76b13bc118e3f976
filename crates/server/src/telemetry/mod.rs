//! Metrics of the server and of its runtime, the recorder that renders them, and request traces.

pub(crate) mod audit_metrics;
pub(crate) mod auth_metrics;
mod histograms;
mod metric_labels;
pub(crate) mod metric_names;
pub(crate) mod metric_table;
pub(crate) mod recorder;
pub(crate) mod request_metrics;
mod runtime_metrics;
pub(crate) mod tls_metrics;
#[cfg(feature = "otel")]
pub(crate) mod traces;
#[cfg(not(feature = "otel"))]
#[path = "traces_off.rs"]
pub(crate) mod traces;

use metrics::Counter;

/// A counter whose series begins at zero, so that the first event is an increase.
fn from_zero(counter: Counter) -> Counter {
    counter.increment(0);
    counter
}
