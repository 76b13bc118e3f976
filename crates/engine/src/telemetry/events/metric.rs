//! Events as metrics.

use metrics::{counter, gauge};
use sequent_core::SlotIndex;

use super::{
    samples::samples,
    table::tell,
    telling::{Amount, Telling},
};
use crate::telemetry::metric_table::{LEDGER_AWAY, LEDGER_BEHIND, LEDGER_UP, METRICS, describe_metric};

/// Changes the metrics of an event.
pub(crate) fn count(told: &Telling) {
    for change in &told.changes {
        match change.amount {
            Amount::Add(by) => counter!(change.metric, &change.labels).increment(by),
            Amount::Set(value) => gauge!(change.metric, &change.labels).set(value),
        }
    }
}

/// Sets event counters to zero at the start, so that `increase()` sees the first event.
pub(crate) fn begin(slots: impl Iterator<Item = SlotIndex>, ledger_answers: bool) {
    for mut told in slots.flat_map(samples).map(|event| tell(&event)) {
        told.changes.retain_mut(|change| {
            let is_counter = matches!(change.amount, Amount::Add(_));
            change.amount = Amount::Add(0);
            is_counter
        });
        count(&told);
    }
    set(LEDGER_UP, ledger_answers);
    set(LEDGER_AWAY, !ledger_answers);
    gauge!(LEDGER_BEHIND).increment(0.0);
}

/// Sets whether an operator must act before the ledger is trusted again.
pub(crate) fn ledger_in_trouble(is_it: bool) {
    set(LEDGER_BEHIND, is_it);
}

fn set(name: &'static str, is_it: bool) {
    gauge!(name).set(f64::from(u8::from(is_it)));
}

/// Registers name and meaning of every metric with the recorder. Call once, after a recorder is installed.
pub fn describe_metrics() {
    METRICS.iter().for_each(describe_metric);
}
