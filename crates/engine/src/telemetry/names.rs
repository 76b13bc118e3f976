//! Names of the engine's metrics, and values of their labels. What they mean: [`super::metric_table`].

use sequent_core::ErrorKind;

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
pub(crate) const INSTANCE_CHANGES: &str = "sequent_instance_changes_total";
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

/// The outcomes of a take with a series of their own; any other counts as [`OTHER`].
pub(crate) const TAKE_OUTCOMES: [ErrorKind; 9] = [
    ErrorKind::Timeout,
    ErrorKind::Unavailable,
    ErrorKind::Contended,
    ErrorKind::Refused,
    ErrorKind::Exhausted,
    ErrorKind::Regressed,
    ErrorKind::InstanceChanged,
    ErrorKind::Jumped,
    ErrorKind::Unfit,
];

/// The same for a call of the ledger.
pub(crate) const CALL_OUTCOMES: [ErrorKind; 4] =
    [ErrorKind::Timeout, ErrorKind::Unavailable, ErrorKind::Refused, ErrorKind::InstanceChanged];

pub(crate) const OK: &str = "ok";
pub(crate) const FAILED: &str = "failed";
pub(crate) const OTHER: &str = "other";

/// The kind of an eviction by a slot command, which is no fault of the store.
pub(crate) const COMMAND: &str = "command";

/// The calls of the ledger with series of their own: those that numbers wait for. The others share one.
pub(crate) const CALLS: [&str; 6] = ["read", "open", "raise", "heartbeat", "count", OTHER];

/// The durability classes, for one gauge each.
pub(crate) const CLASSES: [&str; 3] = ["durable", "lossy", "volatile"];

/// Upper limit of the sequences with series of their own: those that the configuration names first.
pub(crate) const SEQUENCES_MAX: usize = 50;
