//! The error of a take that got nothing: one error that names each slot with its cause.

use std::collections::BTreeMap;

use sequent_core::{ErrorKind, Scope, SlotFailure, SlotIndex, SourceError, Why};

use crate::{membership::snapshot::Snapshot, ring::key::KeyCounters, status::SlotState};

/// The requests of one take to a slot, and the last failure.
#[derive(Default)]
pub(super) struct SlotAttempt {
    pub(super) times: u32,
    pub(super) failure: Option<SourceError>,
}

/// The slots that were asked.
pub(super) type Attempts = BTreeMap<SlotIndex, SlotAttempt>;

/// Combines the failures. An error that concerns no slot is passed on as it is.
pub(super) fn combined_error(key: &KeyCounters, attempts: &Attempts) -> SourceError {
    if let Some(error) = error_of_no_slot(attempts) {
        return error;
    }
    let snapshot = key.snapshot();
    let slots = 0..key.layout().slots();
    let causes: Vec<SlotFailure> = slots.filter_map(|slot| cause(key, attempts, &snapshot, slot)).collect();
    if !causes.is_empty() && causes.iter().all(|cause| cause.kind == ErrorKind::Exhausted) {
        let text = format!("every slot is at the end of its range: {}", causes[0].detail);
        return SourceError::new(ErrorKind::Exhausted, text);
    }
    SourceError::no_shard(causes)
}

/// The gravest failure, if all slots that were asked failed for a reason that concerns no slot.
fn error_of_no_slot(attempts: &Attempts) -> Option<SourceError> {
    let failures: Option<Vec<&SourceError>> =
        attempts.values().map(|attempt| attempt.failure.as_ref()).collect();
    let failures = failures?;
    let all = failures.iter().all(|error| error.kind().verdict().scope == Scope::Nobody);
    let gravest = failures.iter().find(|error| error.kind() == ErrorKind::LedgerBehind);
    gravest.or(failures.first()).filter(|_| all).map(|error| (**error).clone())
}

/// Why this slot gave nothing; `None` for an empty slot.
fn cause(
    key: &KeyCounters,
    attempts: &Attempts,
    snapshot: &Snapshot,
    slot: SlotIndex,
) -> Option<SlotFailure> {
    if snapshot.slot(slot).state == SlotState::Empty {
        return None;
    }
    if let Some(disabled) = key.disabled(snapshot, slot) {
        return Some(disabled);
    }
    let failure = |kind: ErrorKind, detail: String| SlotFailure { slot, kind, why: None, detail };
    let out = key.membership().failure(slot);
    if out.as_ref().and_then(|out| out.why).is_some_and(Why::is_by_word) {
        // A command keeps the slot out, whatever its store said before.
        return out;
    }
    if let Some(attempt) = attempts.get(&slot) {
        let config = key.membership().config();
        let limit = (config.slow_after + config.attempt_timeout).as_millis();
        // If the slot was out before and has not answered yet, the earlier cause is given.
        let unanswered = || {
            let timed_out = || failure(ErrorKind::Timeout, format!("no answer within {limit} ms"));
            out.clone().unwrap_or_else(timed_out)
        };
        let failed = |error: &SourceError| SlotFailure::of(slot, error);
        return Some(attempt.failure.as_ref().map_or_else(unanswered, failed));
    }
    let not_asked = || key.counter(slot).map(|_| failure(ErrorKind::Unavailable, "not asked".to_owned()));
    out.or_else(not_asked)
}
