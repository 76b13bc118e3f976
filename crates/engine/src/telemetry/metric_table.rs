//! The table of the engine's metrics. The page of metrics has it, and tests compare it with what a server shows.

use metrics::Unit;
use sequent_core::{
    Label, Metric,
    MetricGroup::{Capacity, Guard, Ledger, Reservoirs, Slots},
    MetricKind,
};

use super::{
    metric_labels::{
        CALL, CALL_OUTCOME, CLASS, EVICTION_KIND, GENERATION, MEMORY_BITS, OF, OUTCOME, PROBE_KIND,
        QUARANTINE_KIND, SEQUENCE, SHARD_BITS, SLOT, STORE, TAKE_OUTCOME, VIOLATION, WHY,
    },
    names::{
        AT_RISK, BURN_LIMITED, CEILINGS, CLUSTER_BEHIND, DROPPED, DURABILITY, EPOCHS, EVICTIONS, EXHAUSTION,
        EXHAUSTION_LEAST, FORGOTTEN, HEADROOM, HEADROOM_LEAST, INSTANCE_CHANGES, KEYS, KEYS_MADE, LAYOUT,
        LEDGER_AGE, LEDGER_AWAY, LEDGER_BEHIND, LEDGER_CALLS, LEDGER_SECONDS, LEDGER_UP, NEAR_END, OUTAGE,
        OUTAGE_LEFT, OUTAGE_LEFT_OF, PROBES, PROBES_FAILED, QUARANTINED, QUARANTINES, REFILL_SECONDS,
        REFILLS, REGRESSIONS, RESCUES, RESERVE, RESERVE_SECONDS, RESTING, RETIRED, SKIPPED, SLOT_LAG,
        STAMPED_AGAIN, TAKE_SECONDS, TAKES, UNLISTED, UNMARKED, UNREPORTED, VIOLATIONS, WAIT_SECONDS,
        WAITING, WAITS,
    },
};

const NONE: &[Label] = &[];

/// All metrics of the engine.
pub static METRICS: &[Metric] = &[
    Metric::counter(
        Reservoirs,
        KEYS_MADE,
        NONE,
        "Keys that came into use: sequences, periods and partitions. A key counts again after it was idle.",
    ),
    Metric::gauge(Reservoirs, KEYS, NONE, "Keys in use."),
    Metric::gauge(Reservoirs, RESERVE, NONE, "Numbers ready in memory, over all keys."),
    Metric::gauge(
        Reservoirs,
        RESERVE_SECONDS,
        NONE,
        "How long the ready numbers last at the present consumption: the least over all keys in demand. 3600 at most.",
    ),
    Metric::gauge(Reservoirs, AT_RISK, NONE, "Numbers that a crash now would burn."),
    Metric::counter(
        Reservoirs,
        DROPPED,
        &[WHY],
        "Numbers burnt: discarded before they were handed out. A reason that is not in the list counts as other.",
    ),
    Metric::counter(Reservoirs, REFILLS, &[OUTCOME], "Refills of reservoirs."),
    Metric::histogram(Reservoirs, REFILL_SECONDS, NONE, "How long a refill that gave numbers took."),
    Metric::counter(
        Reservoirs,
        WAITS,
        NONE,
        "Requests that found too few numbers ready, and waited for shards.",
    ),
    Metric::histogram(Reservoirs, WAIT_SECONDS, NONE, "How long such requests waited."),
    Metric::gauge(Reservoirs, WAITING, NONE, "Requests that wait for a refill now."),
    Metric::gauge(Capacity, HEADROOM, &[SEQUENCE], "The part of a sequence's range that is left, 0 to 1."),
    Metric::gauge(
        Capacity,
        HEADROOM_LEAST,
        NONE,
        "The part of a range that is left: the least over all keys in use, dense sequences included.",
    ),
    Metric::gauge(
        Capacity,
        EXHAUSTION,
        &[SEQUENCE],
        "Seconds to the end of a sequence's range at the last minute's consumption. A hundred years at most.",
    ),
    Metric::gauge(
        Capacity,
        EXHAUSTION_LEAST,
        NONE,
        "Seconds to the end of a range: the least over all keys in use, dense sequences included. A hundred years at most, and where the period of a key ends before its range would.",
    ),
    Metric::gauge(
        Capacity,
        UNLISTED,
        NONE,
        "Sequences that the configuration names beyond the first 50. They have no series of their own, and one log line says so.",
    ),
    Metric::counter(
        Capacity,
        NEAR_END,
        NONE,
        "Keys that reached the number from which on their template warns.",
    ),
    Metric::counter(
        Capacity,
        BURN_LIMITED,
        NONE,
        "Requests refused because a key would be used up too soon (limits.exhaust_least_s). Page somebody.",
    ),
    Metric::counter(
        Slots,
        TAKES,
        &[SLOT, TAKE_OUTCOME],
        "Takes of a slot's store. After a timeout the outcome is unknown, and the ids are burnt.",
    ),
    Metric::histogram(
        Slots,
        TAKE_SECONDS,
        &[SLOT],
        "How long a slot's store took for a take that it answered.",
    ),
    Metric::counter(
        Slots,
        EVICTIONS,
        &[SLOT, EVICTION_KIND],
        "Slots evicted, by the kind of fault; command if an operator evicted it. A drain is no eviction.",
    ),
    Metric::counter(Slots, RESCUES, &[SLOT], "Slots that came back after one real take."),
    Metric::counter(Slots, PROBES, &[SLOT, OUTCOME], "Attempts to rescue an evicted slot."),
    Metric::counter(
        Slots,
        PROBES_FAILED,
        &[SLOT, PROBE_KIND],
        "Attempts to rescue that failed, by the kind of fault.",
    ),
    Metric::gauge(
        Slots,
        SLOT_LAG,
        &[SLOT],
        "How far a slot's counters are behind the ring's front, in raw ids: the most over all keys in use here. The slot that lags gives first; slots at 0 may rest meanwhile.",
    ),
    Metric::gauge(
        Slots,
        RESTING,
        &[SLOT],
        "Counters of a live slot that are not asked until the other slots have come up to them, among the counters that this server uses. A loss or a rescue has moved them ahead.",
    ),
    Metric::gauge(
        Slots,
        DURABILITY,
        &[SLOT, STORE, CLASS],
        "1 for the durability class that the store's settings give it. They are read when the store is admitted, and every ten seconds.",
    ),
    Metric::gauge(
        Slots,
        LAYOUT,
        &[SHARD_BITS, MEMORY_BITS, GENERATION],
        "The layout in force, as labels. Always 1.",
    ),
    Metric::counter(
        Guard,
        VIOLATIONS,
        &[VIOLATION],
        "Faults that endanger uniqueness, and were caught. Page somebody: given_above means that numbers may have been given twice.",
    ),
    Metric::counter(Guard, REGRESSIONS, &[SLOT], "Counters that went back. Page somebody."),
    Metric::counter(
        Guard,
        CLUSTER_BEHIND,
        NONE,
        "Callers refused because they hold numbers that this cluster can't have given. Page somebody.",
    ),
    Metric::counter(
        Guard,
        QUARANTINES,
        &[SLOT, QUARANTINE_KIND],
        "Counters and slots that give nothing until the guard or an operator has cleared them. Page somebody.",
    ),
    Metric::gauge(
        Guard,
        QUARANTINED,
        &[SLOT],
        "Counters that give nothing before an operator has cleared their slot: those that this server has met, or that its data directory has noted.",
    ),
    Metric::counter(
        Guard,
        STAMPED_AGAIN,
        &[SLOT],
        "Known stores that came back empty, and were stamped again. Page somebody.",
    ),
    Metric::counter(
        Guard,
        INSTANCE_CHANGES,
        &[OF, SLOT],
        "Times that a store or the ledger answered as another instance: restarts, failovers, restores. The ledger's series has an empty slot.",
    ),
    Metric::counter(
        Guard,
        EPOCHS,
        &[SLOT],
        "Epochs opened: a counter's first one, and one after each loss of its cell or change of instance.",
    ),
    Metric::counter(
        Guard,
        SKIPPED,
        &[SLOT],
        "Raw ids that nobody will get: left out when an epoch began above what was given, or when a rescued counter was moved to the ring's front.",
    ),
    Metric::gauge(Guard, CEILINGS, NONE, "Ceilings held: counters from which this server may take."),
    Metric::counter(Guard, RETIRED, &[SLOT], "Counters at the end of their range."),
    Metric::counter(
        Guard,
        FORGOTTEN,
        NONE,
        "Counters of periods that are over, removed from stores and ledger (retain_periods).",
    ),
    Metric::counter(
        Guard,
        UNREPORTED,
        NONE,
        "Counters whose last report the ledger did not take when a process ended. The process ends right after, so look in the log.",
    ),
    Metric::gauge(Ledger, LEDGER_UP, NONE, "1 while the ledger answers."),
    Metric::gauge(Ledger, LEDGER_AWAY, NONE, "1 while the ledger can't be reached."),
    Metric::gauge(
        Ledger,
        LEDGER_BEHIND,
        NONE,
        "1 while the ledger is not trusted: it is older than its marks, was moved, or is another one. Nothing is opened before an operator has acted.",
    ),
    Metric::counter(Ledger, LEDGER_CALLS, &[CALL, CALL_OUTCOME], "Calls of the ledger."),
    Metric::histogram(
        Ledger,
        LEDGER_SECONDS,
        &[CALL],
        "How long the ledger took for a call that it answered.",
    ),
    Metric::gauge(
        Ledger,
        LEDGER_AGE,
        NONE,
        "How long the ledger's version has been the same. While no counter moves, neither does the version.",
    ),
    Metric::counter(
        Ledger,
        UNMARKED,
        NONE,
        "Times that no other shard took the ledger's mark any more. The status has the versions.",
    ),
    Metric::gauge(
        Ledger,
        OUTAGE,
        NONE,
        "The setting ledger.outage_s: how long spread sequences shall go on without the ledger.",
    ),
    Metric::gauge(
        Ledger,
        OUTAGE_LEFT,
        NONE,
        "How long spread sequences go on if the ledger is away from now on, at the rate of the busiest ten seconds of the last two minutes: the least over all counters in demand. +Inf without demand.",
    ),
    Metric::gauge(
        Ledger,
        OUTAGE_LEFT_OF,
        &[SEQUENCE],
        "The same of one sequence. The series ends two minutes after its last refill.",
    ),
];

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
    use crate::telemetry::names::SEQUENCES_MAX;

    #[test]
    fn the_bound_that_a_meaning_names_is_in_force() {
        let unlisted = METRICS.iter().find(|metric| metric.name == UNLISTED).unwrap();
        assert!(unlisted.meaning.contains(&format!("the first {SEQUENCES_MAX}.")), "{}", unlisted.meaning);
    }
}
