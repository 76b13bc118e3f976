//! The table of the engine's metrics: their names, and what the page of metrics says. Tests compare it with what a server
//! shows.

use metrics::Unit;
use sequent_core::{Metric, MetricKind, metric_table};

use super::metric_labels::{
    CALL, CALL_OUTCOME, CLASS, EVICTION_KIND, GENERATION, MEMORY_BITS, OF, OUTCOME, PROBE_KIND,
    QUARANTINE_KIND, SEQUENCE, SHARD_BITS, SLOT, STORE, TAKE_OUTCOME, VIOLATION, WHY,
};

metric_table! {
    /// All metrics of the engine.
    pub static METRICS;

    Reservoirs {
        Counter KEYS_MADE "sequent_keys_made_total" []
            "Keys that came into use: sequences, periods and partitions. A key counts again after it was idle.";
        Gauge KEYS "sequent_live_keys" [] "Keys in use.";
        Gauge RESERVE "sequent_reserve_numbers" [] "Numbers ready in memory, over all keys.";
        Gauge RESERVE_SECONDS "sequent_reserve_seconds" []
            "How long the ready numbers last at the present consumption: the least over all keys in demand. 3600 at most.";
        Gauge AT_RISK "sequent_numbers_at_risk" [] "Numbers that a crash now would burn.";
        Counter DROPPED "sequent_numbers_burnt_total" [WHY]
            "Numbers burnt: discarded before they were handed out. A reason that is not in the list counts as other.";
        Counter REFILLS "sequent_refills_total" [OUTCOME] "Refills of reservoirs.";
        Histogram REFILL_SECONDS "sequent_refill_duration_seconds" []
            "How long a refill that gave numbers took.";
        Counter WAITS "sequent_refill_waits_total" []
            "Requests that found too few numbers ready, and waited for shards.";
        Histogram WAIT_SECONDS "sequent_refill_wait_seconds" [] "How long such requests waited.";
        Gauge WAITING "sequent_refill_waiting_requests" [] "Requests that wait for a refill now.";
    }
    Capacity {
        Gauge HEADROOM "sequent_headroom_ratio" [SEQUENCE]
            "The part of a sequence's range that is left, 0 to 1.";
        Gauge HEADROOM_LEAST "sequent_headroom_least_ratio" []
            "The part of a range that is left: the least over all keys in use, dense sequences included.";
        Gauge EXHAUSTION "sequent_exhaustion_seconds" [SEQUENCE]
            "Seconds to the end of a sequence's range at the last minute's consumption. A hundred years at most.";
        Gauge EXHAUSTION_LEAST "sequent_exhaustion_least_seconds" []
            "Seconds to the end of a range: the least over all keys in use, dense sequences included. A hundred years at most, and where the period of a key ends before its range would.";
        Gauge UNLISTED "sequent_sequences_unlisted" []
            "Sequences that the configuration names beyond the first 50. They have no series of their own, and one log line says so.";
        Counter NEAR_END "sequent_near_end_total" []
            "Keys that reached the number from which on their template warns.";
        Counter BURN_LIMITED "sequent_burn_limited_total" []
            "Requests refused because a key would be used up too soon (limits.exhaust_least_s). Page somebody.";
    }
    Slots {
        Counter TAKES "sequent_slot_takes_total" [SLOT, TAKE_OUTCOME]
            "Takes of a slot's store. After a timeout the outcome is unknown, and the ids are burnt.";
        Histogram TAKE_SECONDS "sequent_slot_take_duration_seconds" [SLOT]
            "How long a slot's store took for a take that it answered.";
        Counter EVICTIONS "sequent_slot_evictions_total" [SLOT, EVICTION_KIND]
            "Slots evicted, by the kind of fault; command if an operator evicted it. A drain is no eviction.";
        Counter RESCUES "sequent_slot_rescues_total" [SLOT] "Slots that came back after one real take.";
        Counter PROBES "sequent_slot_probes_total" [SLOT, OUTCOME] "Attempts to rescue an evicted slot.";
        Counter PROBES_FAILED "sequent_slot_probes_failed_total" [SLOT, PROBE_KIND]
            "Attempts to rescue that failed, by the kind of fault.";
        Gauge SLOT_LAG "sequent_slot_lag_ids" [SLOT]
            "How far a slot's counters are behind the ring's front, in raw ids: the most over all keys in use here. The slot that lags gives first; slots at 0 may rest meanwhile.";
        Gauge RESTING "sequent_resting_counters" [SLOT]
            "Counters of a live slot that are not asked until the other slots have come up to them, among the counters that this server uses. A loss or a rescue has moved them ahead.";
        Gauge DURABILITY "sequent_slot_durability_info" [SLOT, STORE, CLASS]
            "1 for the durability class that the store's settings give it. They are read when the store is admitted, and every ten seconds.";
        Gauge LAYOUT "sequent_layout_info" [SHARD_BITS, MEMORY_BITS, GENERATION]
            "The layout in force, as labels. Always 1.";
    }
    Guard {
        Counter VIOLATIONS "sequent_guard_violations_total" [VIOLATION]
            "Faults that endanger uniqueness, and were caught. Page somebody: given_above means that numbers may have been given twice.";
        Counter REGRESSIONS "sequent_regressions_total" [SLOT] "Counters that went back. Page somebody.";
        Counter CLUSTER_BEHIND "sequent_cluster_behind_total" []
            "Callers refused because they hold numbers that this cluster can't have given. Page somebody.";
        Counter QUARANTINES "sequent_quarantines_total" [SLOT, QUARANTINE_KIND]
            "Counters and slots that give nothing until the guard or an operator has cleared them. Page somebody.";
        Gauge QUARANTINED "sequent_quarantined_counters" [SLOT]
            "Counters that give nothing before an operator has cleared their slot: those that this server has met, or that its data directory has noted.";
        Counter STAMPED_AGAIN "sequent_stores_stamped_again_total" [SLOT]
            "Known stores that came back empty, and were stamped again. Page somebody.";
        Counter INSTANCE_CHANGES "sequent_instance_changes_total" [OF, SLOT]
            "Times that a store or the ledger answered as another instance: restarts, failovers, restores. The ledger's series has an empty slot.";
        Counter EPOCHS "sequent_epochs_opened_total" [SLOT]
            "Epochs opened: a counter's first one, and one after each loss of its cell or change of instance.";
        Counter SKIPPED "sequent_raw_ids_skipped_total" [SLOT]
            "Raw ids that nobody will get: left out when an epoch began above what was given, or when a rescued counter was moved to the ring's front.";
        Gauge CEILINGS "sequent_ceilings" [] "Ceilings held: counters from which this server may take.";
        Counter RETIRED "sequent_counters_retired_total" [SLOT] "Counters at the end of their range.";
        Counter FORGOTTEN "sequent_counters_forgotten_total" []
            "Counters of periods that are over, removed from stores and ledger (retain_periods).";
        Counter UNREPORTED "sequent_unreported_counters_total" []
            "Counters whose last report the ledger did not take when a process ended. The process ends right after, so look in the log.";
    }
    Ledger {
        Gauge LEDGER_UP "sequent_ledger_up" [] "1 while the ledger answers.";
        Gauge LEDGER_AWAY "sequent_ledger_away" [] "1 while the ledger can't be reached.";
        Gauge LEDGER_BEHIND "sequent_ledger_behind" []
            "1 while the ledger is not trusted: it is older than its marks, was moved, or is another one. Nothing is opened before an operator has acted.";
        Counter LEDGER_CALLS "sequent_ledger_calls_total" [CALL, CALL_OUTCOME] "Calls of the ledger.";
        Histogram LEDGER_SECONDS "sequent_ledger_call_duration_seconds" [CALL]
            "How long the ledger took for a call that it answered.";
        Gauge LEDGER_AGE "sequent_ledger_version_age_seconds" []
            "How long the ledger's version has been the same. While no counter moves, neither does the version.";
        Counter UNMARKED "sequent_ledger_marks_lost_total" []
            "Times that no other shard took the ledger's mark any more. The status has the versions.";
        Gauge OUTAGE "sequent_outage_seconds" []
            "The setting ledger.outage_s: how long spread sequences shall go on without the ledger.";
        Gauge OUTAGE_LEFT "sequent_outage_left_seconds" []
            "How long spread sequences go on if the ledger is away from now on, at the rate of the busiest ten seconds of the last two minutes: the least over all counters in demand. +Inf without demand.";
        Gauge OUTAGE_LEFT_OF "sequent_sequence_outage_left_seconds" [SEQUENCE]
            "The same of one sequence. The series ends two minutes after its last refill.";
    }
}

/// Registers name and meaning of a metric with the process's recorder.
pub fn describe_metric(metric: &Metric) {
    let (name, meaning) = (metric.name, metric.meaning);
    match metric.kind {
        MetricKind::Counter => metrics::describe_counter!(name, Unit::Count, meaning),
        MetricKind::Gauge => metrics::describe_gauge!(name, Unit::Count, meaning),
        MetricKind::Histogram if name.ends_with("_seconds") => {
            metrics::describe_histogram!(name, Unit::Seconds, meaning);
        }
        MetricKind::Histogram => metrics::describe_histogram!(name, Unit::Count, meaning),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::per_sequence::SEQUENCES_MAX;

    #[test]
    fn the_bound_that_a_meaning_names_is_in_force() {
        let unlisted = METRICS.iter().find(|metric| metric.name == UNLISTED).unwrap();
        assert!(unlisted.meaning.contains(&format!("the first {SEQUENCES_MAX}.")), "{}", unlisted.meaning);
    }
}
