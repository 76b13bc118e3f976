//! Events as metrics.

use sequent_core::{ErrorKind, Event, Scope, SlotIndex};

use super::{
    discard_reason,
    names::{
        CLUSTER_BEHIND, DROPPED, EPOCHS, EVICTIONS, FAILED, FORGOTTEN, LEDGER_AWAY, LEDGER_BEHIND, LEDGER_UP,
        METRICS, NEAR_END, OK, PROBES, PROBES_FAILED, QUARANTINES, REBORN, REGRESSIONS, RESCUES, RETIRED,
        SKIPPED, STAMPED_AGAIN, UNMARKED, UNREPORTED, VIOLATION_KINDS, VIOLATIONS, WORD,
    },
};

pub(crate) fn count(event: &Event) {
    match event {
        Event::Evicted { slot, kind, retry_after, .. } => {
            // Not retried automatically: a slot command keeps it out.
            let kind = if retry_after.is_some() { kind.as_str() } else { WORD };
            metrics::counter!(EVICTIONS, "slot" => label(*slot), "kind" => kind).increment(1);
        }
        Event::Rescued { slot, .. } => {
            metrics::counter!(RESCUES, "slot" => label(*slot)).increment(1);
            metrics::counter!(PROBES, "slot" => label(*slot), "outcome" => OK).increment(1);
        }
        Event::ProbeFailed { slot, kind, .. } => {
            metrics::counter!(PROBES_FAILED, "slot" => label(*slot), "kind" => kind.as_str()).increment(1);
            metrics::counter!(PROBES, "slot" => label(*slot), "outcome" => FAILED).increment(1);
        }
        Event::Retired { slot, .. } => metrics::counter!(RETIRED, "slot" => label(*slot)).increment(1),
        Event::EpochOpened { slot, skipped, .. } => {
            metrics::counter!(EPOCHS, "slot" => label(*slot)).increment(1);
            metrics::counter!(SKIPPED, "slot" => label(*slot)).increment(*skipped);
        }
        Event::Lifted { slot, skipped, .. } => {
            metrics::counter!(SKIPPED, "slot" => label(*slot)).increment(*skipped);
        }
        Event::StoreReborn { slot, was: Some(_), .. } => {
            metrics::counter!(REBORN, "of" => "store", "slot" => label(*slot)).increment(1);
        }
        Event::LedgerReborn { .. } => {
            metrics::counter!(REBORN, "of" => "ledger", "slot" => "").increment(1);
        }
        Event::LedgerLost { .. } => ledger_up(false),
        Event::LedgerBack { .. } => ledger_up(true),
        Event::NearEnd { .. } => metrics::counter!(NEAR_END).increment(1),
        Event::Unreported { counters } => metrics::counter!(UNREPORTED).increment(*counters as u64),
        Event::Unmarked { elsewhere: false, .. } => metrics::counter!(UNMARKED).increment(1),
        Event::Dropped { count, why, .. } => {
            metrics::counter!(DROPPED, "why" => discard_reason::label(why)).increment(*count);
        }
        other => violation(other),
    }
}

/// Counts a violation that was detected.
fn violation(event: &Event) {
    let kind = match event {
        Event::Regressed { slot, .. } => {
            metrics::counter!(REGRESSIONS, "slot" => label(*slot)).increment(1);
            "counter_back"
        }
        Event::StampedAgain { slot } => {
            metrics::counter!(STAMPED_AGAIN, "slot" => label(*slot)).increment(1);
            "store_back"
        }
        Event::Quarantined { slot, kind, .. } => {
            metrics::counter!(QUARANTINES, "slot" => label(*slot), "kind" => kind.as_str()).increment(1);
            "quarantine"
        }
        Event::LedgerBehind { .. } => "ledger_back",
        Event::DenseBehind { .. } => "dense_back",
        Event::GivenAbove { .. } => "given_above",
        _ => return,
    };
    metrics::counter!(VIOLATIONS, "kind" => kind).increment(1);
}

fn label(slot: SlotIndex) -> String {
    slot.to_string()
}

/// Counts counters removed because their periods are over.
pub(crate) fn forgotten(counters: usize) {
    metrics::counter!(FORGOTTEN).increment(counters as u64);
}

/// Counts a request refused because its caller has a number which this cluster can't have issued.
pub(crate) fn cluster_behind() {
    metrics::counter!(CLUSTER_BEHIND).increment(1);
    metrics::counter!(VIOLATIONS, "kind" => "cluster_back").increment(1);
}

/// Sets whether an operator must act before the ledger is trusted again.
pub(crate) fn ledger_in_trouble(is_it: bool) {
    metrics::gauge!(LEDGER_BEHIND).set(f64::from(u8::from(is_it)));
}

fn ledger_up(is_it: bool) {
    metrics::gauge!(LEDGER_UP).set(f64::from(u8::from(is_it)));
    metrics::gauge!(LEDGER_AWAY).set(f64::from(u8::from(!is_it)));
}

/// Registers name and meaning of every metric with the recorder. Call once, after a recorder is installed.
pub fn describe_metrics() {
    METRICS.iter().for_each(super::Metric::describe);
}

/// Sets event counters to zero at the start, so that `increase()` sees the first event.
pub(crate) fn begin(slots: impl Iterator<Item = SlotIndex>, ledger_answers: bool) {
    let zero = |counter: metrics::Counter| counter.increment(0);
    for name in [CLUSTER_BEHIND, FORGOTTEN, NEAR_END, UNREPORTED, UNMARKED] {
        zero(metrics::counter!(name));
    }
    for kind in VIOLATION_KINDS {
        zero(metrics::counter!(VIOLATIONS, "kind" => kind));
    }
    for why in discard_reason::every() {
        zero(metrics::counter!(DROPPED, "why" => why));
    }
    zero(metrics::counter!(REBORN, "of" => "ledger", "slot" => ""));
    ledger_up(ledger_answers);
    metrics::gauge!(LEDGER_BEHIND).increment(0.0);
    slots.for_each(begin_slot);
}

fn begin_slot(slot: SlotIndex) {
    let zero = |counter: metrics::Counter| counter.increment(0);
    for name in [RESCUES, RETIRED, EPOCHS, SKIPPED, REGRESSIONS, STAMPED_AGAIN] {
        zero(metrics::counter!(name, "slot" => label(slot)));
    }
    for outcome in [OK, FAILED] {
        zero(metrics::counter!(PROBES, "slot" => label(slot), "outcome" => outcome));
    }
    zero(metrics::counter!(REBORN, "of" => "store", "slot" => label(slot)));
    zero(metrics::counter!(EVICTIONS, "slot" => label(slot), "kind" => WORD));
    for kind in ErrorKind::ALL {
        // An eviction or a failed probe is a fault of the slot; a quarantine may be a fault of one counter, too.
        let scope = kind.verdict().scope;
        if scope == Scope::Slot {
            for name in [EVICTIONS, PROBES_FAILED] {
                zero(metrics::counter!(name, "slot" => label(slot), "kind" => kind.as_str()));
            }
        }
        if scope != Scope::Nobody {
            zero(metrics::counter!(QUARANTINES, "slot" => label(slot), "kind" => kind.as_str()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metrics_util::debugging::{DebugValue, DebuggingRecorder};

    use super::*;

    #[test]
    fn what_an_operator_put_out_is_no_fault_of_a_store() {
        let recorder = DebuggingRecorder::new();
        let shown = recorder.snapshotter();
        let evicted = |retry_after| Event::Evicted {
            slot: 1,
            kind: ErrorKind::Unavailable,
            detail: "why".to_owned(),
            retry_after,
        };
        metrics::with_local_recorder(&recorder, || {
            begin_slot(1);
            count(&evicted(None));
            count(&evicted(None));
            count(&evicted(Some(Duration::from_millis(500))));
        });
        let counted: Vec<(String, DebugValue)> = shown
            .snapshot()
            .into_vec()
            .into_iter()
            .filter(|(key, ..)| key.key().name() == EVICTIONS)
            .filter_map(|(key, _, _, value)| {
                let kind = key.key().labels().find(|label| label.key() == "kind")?.value().to_owned();
                (value != DebugValue::Counter(0)).then_some((kind, value))
            })
            .collect();
        assert_eq!(counted.len(), 2, "{counted:?}");
        assert!(counted.contains(&("word".to_owned(), DebugValue::Counter(2))), "{counted:?}");
        assert!(counted.contains(&("unavailable".to_owned(), DebugValue::Counter(1))), "{counted:?}");
    }
}
