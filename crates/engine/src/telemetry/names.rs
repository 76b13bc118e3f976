//! The engine's metrics: their names, units and meanings, and the values of their labels. They are in one place, so
//! that tests can compare them with what is exported.

use metrics::Unit;
use sequent_core::ErrorKind;

/// A metric's name and meaning.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name, unit included.
    pub name: &'static str,
    /// Counter, gauge or histogram.
    pub kind: MetricKind,
    /// The meaning, for `# HELP`.
    pub meaning: &'static str,
    /// The labels of its series; none contains a key, a tenant or an address.
    pub labels: &'static [&'static str],
}

/// The type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only increases, from zero at the start.
    Counter,
    /// Increases and decreases.
    Gauge,
    /// A distribution of values.
    Histogram,
}

impl Metric {
    /// A counter.
    pub const fn counter(name: &'static str, labels: &'static [&'static str], meaning: &'static str) -> Self {
        Self { name, kind: MetricKind::Counter, meaning, labels }
    }

    /// A gauge.
    pub const fn gauge(name: &'static str, labels: &'static [&'static str], meaning: &'static str) -> Self {
        Self { name, kind: MetricKind::Gauge, meaning, labels }
    }

    /// A histogram.
    pub const fn histogram(
        name: &'static str,
        labels: &'static [&'static str],
        meaning: &'static str,
    ) -> Self {
        Self { name, kind: MetricKind::Histogram, meaning, labels }
    }

    /// Registers the metric with the process's recorder.
    pub fn describe(&self) {
        let (name, meaning) = (self.name, self.meaning);
        match self.kind {
            MetricKind::Counter => metrics::describe_counter!(name, Unit::Count, meaning),
            MetricKind::Gauge => metrics::describe_gauge!(name, Unit::Count, meaning),
            MetricKind::Histogram if name.ends_with("_seconds") => {
                metrics::describe_histogram!(name, Unit::Seconds, meaning);
            }
            MetricKind::Histogram => metrics::describe_histogram!(name, Unit::Count, meaning),
        }
    }
}

pub(crate) const EVICTIONS: &str = "sequent_slot_evictions_total";
pub(crate) const RESCUES: &str = "sequent_slot_rescues_total";
pub(crate) const PROBES: &str = "sequent_slot_probes_total";
pub(crate) const PROBES_FAILED: &str = "sequent_slot_probes_failed_total";
pub(crate) const QUARANTINES: &str = "sequent_quarantines_total";
pub(crate) const FORGOTTEN: &str = "sequent_counters_forgotten_total";
pub(crate) const RETIRED: &str = "sequent_counters_retired_total";
pub(crate) const EPOCHS: &str = "sequent_epochs_opened_total";
pub(crate) const SKIPPED: &str = "sequent_raw_ids_skipped_total";
pub(crate) const REGRESSIONS: &str = "sequent_regressions_total";
pub(crate) const STAMPED_AGAIN: &str = "sequent_stores_stamped_again_total";
pub(crate) const REBORN: &str = "sequent_instance_changes_total";
pub(crate) const VIOLATIONS: &str = "sequent_guard_violations_total";
pub(crate) const LEDGER_AWAY: &str = "sequent_ledger_away";
pub(crate) const LEDGER_UP: &str = "sequent_ledger_up";
pub(crate) const LEDGER_BEHIND: &str = "sequent_ledger_behind";
pub(crate) const LEDGER_AGE: &str = "sequent_ledger_version_age_seconds";
pub(crate) const LEDGER_CALLS: &str = "sequent_ledger_calls_total";
pub(crate) const LEDGER_SECONDS: &str = "sequent_ledger_call_duration_seconds";
pub(crate) const CLUSTER_BEHIND: &str = "sequent_cluster_behind_total";
pub(crate) const BURN_LIMITED: &str = "sequent_burn_limited_total";
pub(crate) const NEAR_END: &str = "sequent_near_end_total";
pub(crate) const UNREPORTED: &str = "sequent_unreported_counters_total";
pub(crate) const UNMARKED: &str = "sequent_ledger_marks_lost_total";
pub(crate) const DROPPED: &str = "sequent_numbers_burnt_total";
pub(crate) const TAKES: &str = "sequent_slot_takes_total";
pub(crate) const TAKE_SECONDS: &str = "sequent_slot_take_duration_seconds";
pub(crate) const SLOT_LAG: &str = "sequent_slot_lag_ids";
pub(crate) const RESTING: &str = "sequent_resting_counters";
pub(crate) const QUARANTINED: &str = "sequent_quarantined_counters";
pub(crate) const DURABILITY: &str = "sequent_slot_durability_info";
pub(crate) const LAYOUT: &str = "sequent_layout_info";
pub(crate) const CEILINGS: &str = "sequent_ceilings";
pub(crate) const OUTAGE: &str = "sequent_outage_seconds";
pub(crate) const OUTAGE_LEFT: &str = "sequent_outage_left_seconds";
pub(crate) const OUTAGE_LEFT_OF: &str = "sequent_sequence_outage_left_seconds";
pub(crate) const REFILLS: &str = "sequent_refills_total";
pub(crate) const REFILL_SECONDS: &str = "sequent_refill_duration_seconds";
pub(crate) const WAITS: &str = "sequent_refill_waits_total";
pub(crate) const WAIT_SECONDS: &str = "sequent_refill_wait_seconds";
pub(crate) const WAITING: &str = "sequent_refill_waiting_requests";
pub(crate) const KEYS_MADE: &str = "sequent_keys_made_total";
pub(crate) const KEYS: &str = "sequent_live_keys";
pub(crate) const RESERVE: &str = "sequent_reserve_numbers";
pub(crate) const RESERVE_SECONDS: &str = "sequent_reserve_seconds";
pub(crate) const AT_RISK: &str = "sequent_numbers_at_risk";
pub(crate) const HEADROOM: &str = "sequent_headroom_ratio";
pub(crate) const UNLISTED: &str = "sequent_sequences_unlisted";
pub(crate) const HEADROOM_LEAST: &str = "sequent_headroom_least_ratio";
pub(crate) const EXHAUSTION: &str = "sequent_exhaustion_seconds";
pub(crate) const EXHAUSTION_LEAST: &str = "sequent_exhaustion_least_seconds";

/// All metrics of the engine.
pub static METRICS: &[Metric] = &[
    Metric::counter(
        EVICTIONS,
        &["slot", "kind"],
        "Slots evicted, by cause class; word where an operator wanted it",
    ),
    Metric::counter(RESCUES, &["slot"], "Slots that came back after one real take"),
    Metric::counter(PROBES, &["slot", "outcome"], "Rescues that were tried, by whether they succeeded"),
    Metric::counter(PROBES_FAILED, &["slot", "kind"], "Rescues that were tried and failed, by cause class"),
    Metric::counter(
        QUARANTINES,
        &["slot", "kind"],
        "Counters and slots out until a guard or a person has cleared them: page somebody",
    ),
    Metric::counter(RETIRED, &["slot"], "Counters at the end of their range"),
    Metric::counter(FORGOTTEN, &[], "Counters of periods that are over, removed from stores and ledger"),
    Metric::counter(
        EPOCHS,
        &["slot"],
        "Epochs opened: a counter's first, and one after each loss of its cell, its store's or ledger's run",
    ),
    Metric::counter(
        SKIPPED,
        &["slot"],
        "Raw ids that nobody will get: left out where an epoch began above what was given, and where a rescued counter was moved to the ring's front",
    ),
    Metric::counter(REGRESSIONS, &["slot"], "Counters that went back: page somebody"),
    Metric::counter(STAMPED_AGAIN, &["slot"], "Known stores that came back empty: page somebody"),
    Metric::counter(
        REBORN,
        &["of", "slot"],
        "Times that a store or the ledger spoke as another instance: restarts, failovers, restores",
    ),
    Metric::counter(
        VIOLATIONS,
        &["kind"],
        "What must never happen and was caught: counters, stores, the ledger or the cluster gone back; page somebody",
    ),
    Metric::counter(
        CLUSTER_BEHIND,
        &[],
        "Callers refused since they hold numbers that this cluster can't have given: page somebody",
    ),
    Metric::counter(NEAR_END, &[], "Keys that reached the number from which on their template warns"),
    Metric::counter(
        BURN_LIMITED,
        &[],
        "Requests refused since a key would be used up too soon (limits.exhaust_least_s): page somebody",
    ),
    Metric::counter(
        UNREPORTED,
        &[],
        "Counters whose last report the ledger did not take when a process ended",
    ),
    Metric::counter(
        UNMARKED,
        &[],
        "Times that no other shard took the ledger's mark any more; the status counts the versions",
    ),
    Metric::counter(DROPPED, &["why"], "Numbers burnt: given up before they were handed out, by reason"),
    Metric::counter(
        TAKES,
        &["slot", "outcome"],
        "Takes of a slot's store; timeout is an unknown outcome, whose ids are burnt",
    ),
    Metric::histogram(TAKE_SECONDS, &["slot"], "How long a slot's store took for a take that it answered"),
    Metric::counter(LEDGER_CALLS, &["call", "outcome"], "Calls of the ledger"),
    Metric::histogram(LEDGER_SECONDS, &["call"], "How long the ledger took for a call that it answered"),
    Metric::counter(REFILLS, &["outcome"], "Refills of reservoirs"),
    Metric::histogram(REFILL_SECONDS, &[], "How long a refill that gave numbers took"),
    Metric::counter(WAITS, &[], "Requests that found too little ready, and waited for shards"),
    Metric::histogram(WAIT_SECONDS, &[], "How long such requests waited"),
    Metric::gauge(WAITING, &[], "Requests that wait for a refill now"),
    Metric::gauge(LEDGER_AWAY, &[], "1 while the ledger can't be reached"),
    Metric::gauge(LEDGER_UP, &[], "1 while the ledger answers"),
    Metric::gauge(
        LEDGER_BEHIND,
        &[],
        "1 while the ledger is not trusted (older than its marks, moved, or another one): nothing is opened before a person has acted",
    ),
    Metric::gauge(
        LEDGER_AGE,
        &[],
        "How long the ledger's version, as heard here, has been the same: it stays where nothing moves",
    ),
    Metric::gauge(
        SLOT_LAG,
        &["slot"],
        "How far a slot's counters are behind the ring's front, in raw ids: the most over its keys here. Who lags gives first",
    ),
    Metric::gauge(
        RESTING,
        &["slot"],
        "Counters of a live slot that give nothing until the other slots have come up to them, as far as this process uses them",
    ),
    Metric::gauge(
        QUARANTINED,
        &["slot"],
        "Counters from which nothing is taken before an operator has cleared their slot, as far as this process met them",
    ),
    Metric::gauge(
        DURABILITY,
        &["slot", "store", "class"],
        "1 for the durability class that a store has, by its settings as read every ten seconds",
    ),
    Metric::gauge(LAYOUT, &["shard_bits", "memory_bits", "generation"], "The layout in force, as labels"),
    Metric::gauge(CEILINGS, &[], "Ceilings held: counters from which this process may take"),
    Metric::gauge(OUTAGE, &[], "How long numbers shall go on without the ledger: ledger.outage_s"),
    Metric::gauge(
        OUTAGE_LEFT,
        &[],
        "Seconds that numbers go on if the ledger is away from now on, at the rate of the last two minutes: the least over all counters in demand; +Inf without any",
    ),
    Metric::gauge(
        OUTAGE_LEFT_OF,
        &["sequence"],
        "The same of a sequence: the least over its keys in demand; only of sequences in use that the configuration names",
    ),
    Metric::gauge(KEYS, &[], "Keys in use"),
    Metric::counter(
        KEYS_MADE,
        &[],
        "Keys that came into use: partitions, periods and sequences, each time anew after it was idle",
    ),
    Metric::gauge(RESERVE, &[], "Numbers ready in memory, over all keys"),
    Metric::gauge(
        RESERVE_SECONDS,
        &[],
        "How long what is ready lasts at the present consumption: the least over all keys in demand",
    ),
    Metric::gauge(AT_RISK, &[], "Numbers that a crash now would burn"),
    Metric::gauge(
        HEADROOM,
        &["sequence"],
        "What is left of a sequence's range; only of sequences in use that the configuration names",
    ),
    Metric::gauge(
        UNLISTED,
        &[],
        "Sequences that the configuration names beyond those that have series of their own",
    ),
    Metric::gauge(HEADROOM_LEAST, &[], "What is left of a range: the least over all keys in use"),
    Metric::gauge(
        EXHAUSTION,
        &["sequence"],
        "Seconds to the end of a sequence's range at the last minute's consumption; a hundred years at most",
    ),
    Metric::gauge(EXHAUSTION_LEAST, &[], "Seconds to the end of a range: the least over all keys in use"),
];

/// The outcomes of a take with a series of their own; any other counts as [`OTHER`].
pub(crate) const TAKE_OUTCOMES: [ErrorKind; 9] = [
    ErrorKind::Timeout,
    ErrorKind::Unavailable,
    ErrorKind::Contended,
    ErrorKind::Refused,
    ErrorKind::Exhausted,
    ErrorKind::Regressed,
    ErrorKind::Reborn,
    ErrorKind::Jumped,
    ErrorKind::Unfit,
];

/// The same for a call of the ledger.
pub(crate) const CALL_OUTCOMES: [ErrorKind; 4] =
    [ErrorKind::Timeout, ErrorKind::Unavailable, ErrorKind::Refused, ErrorKind::Reborn];

pub(crate) const OK: &str = "ok";
pub(crate) const FAILED: &str = "failed";
pub(crate) const OTHER: &str = "other";

/// The kind of an eviction by an operator, which is no fault of the store.
pub(crate) const WORD: &str = "word";

/// The durability classes, for one gauge each.
pub(crate) const CLASSES: [&str; 3] = ["durable", "lossy", "volatile"];

/// Upper limit of the sequences with series of their own: those that the configuration names first.
pub(crate) const SEQUENCES_MAX: usize = 50;
