//! Why a take gave nothing: in one error, naming each slot.

use std::collections::BTreeMap;

use sequent_core::{ErrorKind, Scope, SlotFailure, SlotIndex, SourceError, Why};

use super::{key::KeyRing, refill::Asked};
use crate::{SlotState, snapshot::Snapshot};

/// The slots that were asked, with what became of it.
type AskedSlots = BTreeMap<SlotIndex, Asked>;

/// What is nobody's fault is passed on as it is; slots are blamed only for what is theirs.
pub(super) fn blame(key: &KeyRing, asked: &AskedSlots) -> SourceError {
    if let Some(error) = nobodys_fault(asked) {
        return error;
    }
    let snapshot = key.snapshot();
    let slots = 0..key.layout().slots();
    let causes: Vec<SlotFailure> = slots.filter_map(|slot| cause(key, asked, &snapshot, slot)).collect();
    if !causes.is_empty() && causes.iter().all(|cause| cause.kind == ErrorKind::Exhausted) {
        let all = format!("every slot is at the end of its range: {}", causes[0].detail);
        return SourceError::new(ErrorKind::Exhausted, all);
    }
    SourceError::no_shard(causes)
}

/// The gravest of the failures, if all that were asked failed by nobody's fault.
fn nobodys_fault(asked: &AskedSlots) -> Option<SourceError> {
    let failures: Option<Vec<&SourceError>> = asked.values().map(|asked| asked.failure.as_ref()).collect();
    let failures = failures?;
    let all = failures.iter().all(|error| error.kind().verdict().scope == Scope::Nobody);
    let gravest = failures.iter().find(|error| error.kind() == ErrorKind::LedgerBehind);
    gravest.or(failures.first()).filter(|_| all).map(|error| (**error).clone())
}

/// Why this slot gave nothing, if there is one.
fn cause(key: &KeyRing, asked: &AskedSlots, snapshot: &Snapshot, slot: SlotIndex) -> Option<SlotFailure> {
    if snapshot.standing(slot).state == SlotState::Empty {
        return None;
    }
    if let Some(bar) = key.barred(snapshot, slot) {
        return Some(bar);
    }
    let of = |kind: ErrorKind, detail: String| SlotFailure { slot, kind, why: None, detail };
    let out = key.roster().failure(slot);
    if out.as_ref().and_then(|out| out.why).is_some_and(Why::is_by_word) {
        // Whatever the store said before: it is not asked, and will not be once it could serve again.
        return out;
    }
    if let Some(asked) = asked.get(&slot) {
        let config = key.roster().config();
        let limit = (config.slow_after + config.attempt_timeout).as_millis();
        // What was out before, and has not answered yet, is out for the reason that it had.
        let unanswered = || {
            let late = || of(ErrorKind::Timeout, format!("no answer within {limit} ms"));
            out.clone().unwrap_or_else(late)
        };
        let failed = |error: &SourceError| SlotFailure::of(slot, error);
        return Some(asked.failure.as_ref().map_or_else(unanswered, failed));
    }
    let not_asked = || key.lane(slot).map(|_| of(ErrorKind::Unavailable, "not asked".to_owned()));
    out.or_else(not_asked)
}
