//! The status of a running engine, for operators.

pub(crate) mod capacity_left;
mod cluster_state;
mod idle_counters;
pub mod key_display;
mod known;
mod offline_slots;
mod probe;
pub mod report;
mod sequences;
pub(crate) mod slot_summary;

use std::{sync::Arc, time::Instant};

use sequent_core::{ErrorKind, Key, Why, whole_ms};
use sequent_ha::{SlotState, SlotStatus};

pub(crate) use idle_counters::resting_by_slot;

pub use idle_counters::APART_MAX;
pub use probe::OBEYED_WITHIN;

use crate::{
    definition::Placement,
    engine::Inner,
    error::reason::Reason,
    issue::active_key::ActiveKey,
    status::{
        key_display::shown,
        report::{Cause, DenseBehindReport, KeyReport, ShardReport, SlotCommandReport, Status},
        slot_summary::class_of,
    },
};

/// Upper limit of the dense counters behind that one status lists, and of those that its trouble names besides the
/// first.
const BEHIND_SHOWN_MAX: usize = 64;
const BEHIND_NAMED_MAX: usize = 8;

/// Upper limit of the keys in one status.
const KEYS_SHOWN_MAX: usize = 1000;

pub(crate) async fn status(engine: &Inner) -> Status {
    let (now, as_of) = (engine.env.clock.now(), engine.env.clock.wall());
    let ring = engine.ring.status();
    let is_live = |slot| ring.iter().any(|held| held.slot == slot && held.state == SlotState::Live);
    let (mut shards, unfit) = tokio::join!(engine.cluster.shards_asked(is_live), unfit(engine));
    let record = &engine.cluster.record;
    let guard_status = engine.guard.status();
    for (report, slot) in shards.iter_mut().zip(engine.ring.status()) {
        overlay(report, slot, now, guard_status.trouble.is_some());
    }
    let (behind, behind_more) = engine.behind_reports.all();
    let at = engine.request_clock.now(&*engine.env.clock);
    let key = |(key, live): (Key, Arc<ActiveKey>)| {
        let (stats, room) = (live.reservoir().stats(), live.headroom(at));
        KeyReport {
            key: key.to_string(),
            shown: shown(&key),
            placement: Placement::Spread.as_str(),
            ready: stats.reserve,
            given: stats.issued,
            rate: stats.rate_short,
            left: room.left,
            headroom: room.ratio,
            outage_left_s: engine.guard.outage_left(&key, is_live).map(|left| left.as_secs()),
            ends_in_s: room.ends_in_s(),
        }
    };
    let keys: Vec<KeyReport> = engine.keys.all().into_iter().map(key).collect();
    let outage_left_s = keys.iter().filter_map(|key| key.outage_left_s).min();
    let dense = engine.dense.in_use(now).into_iter().map(|(key, counter)| counter.report(&key, at));
    Status {
        as_of: humantime::format_rfc3339_millis(as_of).to_string(),
        tzdb: sequent_format::tzdb_version(),
        cluster: record.cluster.to_string(),
        shard_bits: record.layout.shard_bits(),
        memory_bits: record.layout.memory_bits(),
        generation: record.generation,
        trouble: guard_status
            .trouble
            .map(|trouble| trouble.error().to_string())
            .or_else(|| dense_trouble(&guard_status.dense_behind))
            .or(unfit),
        ledger_version: guard_status.version,
        ledger_away_ms: guard_status.away.map(whole_ms),
        outage_left_s,
        unmarked: guard_status.unmarked,
        behind,
        behind_more,
        dense_behind: guard_status.dense_behind.iter().take(BEHIND_SHOWN_MAX).map(dense_behind).collect(),
        shards,
        keys: keys.into_iter().chain(dense).take(KEYS_SHOWN_MAX).collect(),
        events: engine.memory.reports(),
    }
}

/// The dense counters that issue nothing before an operator has acted, in one line: the first in words, then the keys
/// of a few, then the count.
fn dense_trouble(behind: &[(Key, u64, u64)]) -> Option<String> {
    let ((key, given, found), others) = behind.split_first()?;
    let keys: Vec<&str> = others.iter().take(BEHIND_NAMED_MAX).map(|(key, ..)| key.as_str()).collect();
    let also = match (keys.is_empty(), others.len() - keys.len()) {
        (true, _) => String::new(),
        (false, 0) => format!(", nor do {}", keys.join(", ")),
        (false, more) => format!(", nor do {} and {more} more", keys.join(", ")),
    };
    Some(format!(
        "{found} numbers of the dense counter {key} are given, says the ledger, and this server knows of {given}: it gives none \
         before `sequent recover --bump N`{also}"
    ))
}

fn dense_behind((key, given, found): &(Key, u64, u64)) -> DenseBehindReport {
    DenseBehindReport { key: key.to_string(), given: *given, found: *found }
}

/// A fault of the ledger that the guard has not met yet and that an operator must correct: a file that was damaged or
/// replaced. A ledger that is merely unavailable has a field of its own.
async fn unfit(engine: &Inner) -> Option<String> {
    let error = engine.cluster.trouble().await.filter(|error| error.reason() == Reason::RecoveryRequired)?;
    Some(error.detail().unwrap_or_else(|| error.to_string()))
}

/// Combines the ring's state of a slot with a fresh probe. The ring's state has priority; the probe's cause is used if
/// the ring has none. If the store responds again, the cause of its eviction is dropped. If the ledger is not trusted,
/// that is the reason why the slot stays out.
fn overlay(report: &mut ShardReport, slot: SlotStatus, now: Instant, in_trouble: bool) {
    if slot.state == SlotState::Empty {
        return;
    }
    slot.state.as_str().clone_into(&mut report.state);
    if let Some((kind, detail)) = slot.cause {
        let is_back = report.cause.is_none() && may_return(kind) && !slot.why.is_some_and(Why::is_by_word);
        report.cause = Some(if in_trouble && is_back {
            let kind = ErrorKind::LedgerBehind.as_str();
            let detail = format!(
                "its store answers again, and nothing is taken from it before the ledger is trusted again, see `trouble`; it went out \
                 for: {detail}"
            );
            Cause { kind, detail }
        } else {
            Cause { kind: class_of(kind, slot.why), detail }
        });
    }
    report.since_ms = slot.since.map(|since| whole_ms(now.saturating_duration_since(since)));
    report.out_ms = slot.out_since.map(|since| whole_ms(now.saturating_duration_since(since)));
    report.retry_in_ms = slot.retry_at.map(|at| whole_ms(at.saturating_duration_since(now)));
    if let Some(word) = slot.command {
        report.word = Some(SlotCommandReport::from(&word));
    }
}

/// Whether a slot evicted for this kind of error is retried automatically.
fn may_return(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Contended)
}

#[cfg(test)]
mod tests {
    use sequent_core::Env;
    use sequent_ha::SlotCounts;

    use super::*;

    #[test]
    fn a_store_that_returned_is_out_for_the_ledger_and_no_longer_for_what_it_said() {
        let now = Env::default().clock.now();
        let shown = |found: Option<&str>, kind: ErrorKind, why: Option<Why>, in_trouble: bool| {
            let cause = found.map(|detail| Cause { kind: "unavailable", detail: detail.to_owned() });
            let mut report = report(cause);
            let slot = SlotStatus {
                slot: 1,
                state: SlotState::Evicted,
                cause: Some((kind, "Connection refused".to_owned())),
                why,
                since: Some(now),
                out_since: Some(now),
                retry_at: None,
                command: None,
                counts: SlotCounts::default(),
            };
            overlay(&mut report, slot, now, in_trouble);
            report.cause.map(|cause| (cause.kind, cause.detail)).unwrap()
        };
        let away = ErrorKind::Unavailable;
        let (kind, detail) = shown(None, away, None, true);
        assert_eq!(kind, ErrorKind::LedgerBehind.as_str());
        assert!(
            detail.starts_with("its store answers again") && detail.ends_with("Connection refused"),
            "{detail}"
        );
        let old = ("unavailable", "Connection refused".to_owned());
        assert_eq!(shown(None, away, None, false), old, "it is tried soon");
        assert_eq!(shown(Some("gone"), away, None, true), old, "it is still away");
        assert_eq!(shown(None, away, Some(Why::EvictedByHand), true).1, old.1, "a person put it out");
        assert_eq!(shown(None, ErrorKind::Refused, None, true).1, old.1, "a person must clear it");
    }

    fn report(cause: Option<Cause>) -> ShardReport {
        ShardReport {
            slot: 1,
            store: "redis",
            place: String::new(),
            state: "open".to_owned(),
            cause,
            since_ms: None,
            out_ms: None,
            retry_in_ms: None,
            word: None,
            found: None,
            quarantined: Vec::new(),
            resting: Vec::new(),
        }
    }

    #[test]
    fn every_dense_counter_behind_is_named_until_there_are_very_many() {
        let of = |count: u64| {
            let behind: Vec<(Key, u64, u64)> =
                (0..count).map(|at| (Key::from_stored(&format!("k{at}")), 9, at)).collect();
            dense_trouble(&behind)
        };
        let first = "0 numbers of the dense counter k0 are given, says the ledger, and this server knows of 9: it gives none \
                     before `sequent recover --bump N`";
        assert_eq!(of(0), None);
        assert_eq!(of(1).unwrap(), first);
        assert_eq!(of(3).unwrap(), format!("{first}, nor do k1, k2"));
        assert_eq!(of(20).unwrap(), format!("{first}, nor do k1, k2, k3, k4, k5, k6, k7, k8 and 11 more"));
    }
}
