//! What happened, as metrics: their names, and what they mean.

use sequent_core::{Event, SlotIndex};

pub(super) fn count(event: &Event) {
    let label = |slot: SlotIndex| slot.to_string();
    match event {
        Event::Evicted { slot, kind, .. } => {
            metrics::counter!(EVICTIONS, "slot" => label(*slot), "kind" => kind.as_str()).increment(1);
        }
        Event::Rescued { slot, .. } => metrics::counter!(RESCUES, "slot" => label(*slot)).increment(1),
        Event::ProbeFailed { slot, kind, .. } => {
            metrics::counter!(PROBES_FAILED, "slot" => label(*slot), "kind" => kind.as_str()).increment(1);
        }
        Event::Quarantined { slot, kind, .. } => {
            metrics::counter!(QUARANTINES, "slot" => label(*slot), "kind" => kind.as_str()).increment(1);
        }
        Event::Retired { slot, .. } => metrics::counter!(RETIRED, "slot" => label(*slot)).increment(1),
        Event::LifeOpened { slot, skipped, .. } => {
            metrics::counter!(LIVES, "slot" => label(*slot)).increment(1);
            metrics::counter!(SKIPPED, "slot" => label(*slot)).increment(*skipped);
        }
        Event::Regressed { slot, .. } => metrics::counter!(REGRESSIONS, "slot" => label(*slot)).increment(1),
        Event::StampedAgain { slot } => metrics::counter!(STAMPED_AGAIN, "slot" => label(*slot)).increment(1),
        Event::LedgerLost { .. } => metrics::gauge!(LEDGER_AWAY).set(1.0),
        Event::LedgerBack { .. } => metrics::gauge!(LEDGER_AWAY).set(0.0),
        Event::Unwitnessed { slot, count } => {
            metrics::counter!(UNWITNESSED, "slot" => label(*slot)).increment(*count);
        }
        Event::Unreported { counters } => metrics::counter!(UNREPORTED).increment(*counters as u64),
        Event::Unmarked { elsewhere: false, .. } => metrics::counter!(UNMARKED).increment(1),
        Event::Dropped { count, why, .. } => metrics::counter!(DROPPED, "why" => *why).increment(*count),
        _ => {}
    }
}

const EVICTIONS: &str = "sequent_slot_evictions_total";
const RESCUES: &str = "sequent_slot_rescues_total";
const PROBES_FAILED: &str = "sequent_slot_probes_failed_total";
const QUARANTINES: &str = "sequent_quarantines_total";
const RETIRED: &str = "sequent_counters_retired_total";
const LIVES: &str = "sequent_lives_opened_total";
const SKIPPED: &str = "sequent_raw_ids_skipped_total";
const REGRESSIONS: &str = "sequent_regressions_total";
const STAMPED_AGAIN: &str = "sequent_stores_stamped_again_total";
const LEDGER_AWAY: &str = "sequent_ledger_away";
const LEDGER_BEHIND: &str = "sequent_ledger_behind";
const CLUSTER_BEHIND: &str = "sequent_cluster_behind_total";
const UNWITNESSED: &str = "sequent_unwitnessed_raw_ids_total";
const UNREPORTED: &str = "sequent_unreported_counters_total";
const UNMARKED: &str = "sequent_ledger_marks_lost_total";
const DROPPED: &str = "sequent_numbers_burnt_total";

/// A caller was refused that holds what this cluster can't have given.
pub(crate) fn cluster_behind() {
    metrics::counter!(CLUSTER_BEHIND).increment(1);
}

/// Whether a person has to act before anything rests on the ledger again.
pub(crate) fn ledger_in_trouble(is_it: bool) {
    metrics::gauge!(LEDGER_BEHIND).set(f64::from(u8::from(is_it)));
}

/// Tells the metrics recorder name and meaning of every metric. Call once, after a recorder is installed.
pub fn describe_metrics() {
    let counters = [
        (EVICTIONS, "Slots that left the rotation, by cause class"),
        (RESCUES, "Slots that came back after one real take"),
        (PROBES_FAILED, "Rescues that were tried and failed"),
        (QUARANTINES, "Counters and slots out until a guard or a person has cleared them: page somebody"),
        (RETIRED, "Counters at the end of their range"),
        (
            LIVES,
            "Lives opened: a counter's first, and one after each loss of its cell, its store's or ledger's run",
        ),
        (SKIPPED, "Raw ids skipped when a life was opened"),
        (REGRESSIONS, "Counters that went back: page somebody"),
        (STAMPED_AGAIN, "Known stores that came back empty: page somebody"),
        (UNREPORTED, "Counters whose last report the ledger did not take when a process ended"),
        (
            CLUSTER_BEHIND,
            "Callers refused since they hold numbers that this cluster can't have given: page somebody",
        ),
        (UNWITNESSED, "Raw ids that left above their ceiling while the ledger was away"),
        (
            UNMARKED,
            "Times that no other shard took the ledger's mark any more; the status counts the versions",
        ),
        (DROPPED, "Numbers burnt: given up before they were handed out, by reason"),
    ];
    for (name, meaning) in counters {
        metrics::describe_counter!(name, metrics::Unit::Count, meaning);
    }
    metrics::describe_gauge!(LEDGER_AWAY, metrics::Unit::Count, "1 while the ledger can't be reached");
    metrics::describe_gauge!(
        LEDGER_BEHIND,
        metrics::Unit::Count,
        "1 while the ledger is not trusted (older than its marks, moved, or another one): nothing is opened before a person has acted"
    );
}
