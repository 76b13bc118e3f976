//! Telemetry: events in logs, metrics and status; metrics of calls, and gauges. Nothing is recorded per number.

mod discard_reason;
mod events;
mod gauges;
mod instrumented;
mod metric_labels;
mod metric_table;
mod per_sequence;
mod quarantined;
mod throttle;

pub(crate) use events::{Memory, ledger_in_trouble, watched};
pub use events::{RECENT_MAX, Recent, describe_metrics};
pub(crate) use gauges::Gauges;
pub(crate) use instrumented::{MeteredLedger, MeteredStore, Refills, Waits};
pub(crate) use metric_labels::COMMAND;
pub use metric_table::{METRICS, describe_metric};
pub(crate) use throttle::Throttle;

/// The count of the keys that came into use.
pub(crate) fn keys_made() -> metrics::Counter {
    let counter = metrics::counter!(metric_table::KEYS_MADE);
    counter.increment(0);
    counter
}
