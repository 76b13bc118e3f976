//! A running engine as an operator sees it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_core::Key;
use sequent_ha::{SlotState, SlotStatus};

use crate::{
    Reason,
    desk::report_word,
    engine::Inner,
    events::told,
    live::Live,
    report::{Cause, DenseBehindReport, KeyReport, ShardReport, Status},
    slots::class_of,
};

/// The most dense counters behind that one status lists, and how many of them its trouble names beside the first.
const BEHIND_SHOWN_MAX: usize = 64;
const BEHIND_NAMED_MAX: usize = 8;

/// The most keys that one status shows.
const KEYS_SHOWN_MAX: usize = 1000;

pub(crate) async fn status(engine: &Inner) -> Status {
    let (now, as_of) = (engine.env.clock.now(), engine.env.clock.wall());
    let (mut shards, unfit) = tokio::join!(engine.desk.shards(), unfit(engine));
    for (report, slot) in shards.iter_mut().zip(engine.ring.status()) {
        overlay(report, slot, now);
    }
    let record = &engine.desk.0.record;
    let keeper = engine.keeper.status();
    let (behind, behind_more) = engine.accused.all();
    let key = |(key, live): (Key, Arc<Live>)| {
        let (stats, room) = (live.reservoir().stats(), live.headroom());
        KeyReport {
            key: key.to_string(),
            ready: stats.reserve,
            given: stats.dealt,
            rate: stats.rate_short,
            left: room.left,
            headroom: room.ratio,
            ends_in_s: room.ends_in_s(),
        }
    };
    Status {
        as_of: humantime::format_rfc3339_millis(as_of).to_string(),
        tzdb: sequent_format::tzdb_version(),
        cluster: record.cluster.to_string(),
        shard_bits: record.layout.shard_bits(),
        memory_bits: record.layout.memory_bits(),
        epoch: record.epoch,
        trouble: keeper
            .trouble
            .map(|trouble| trouble.error().to_string())
            .or_else(|| dense_trouble(&keeper.dense_behind))
            .or(unfit),
        ledger_version: keeper.version,
        ledger_away_ms: keeper.away.map(ms),
        unmarked: keeper.unmarked,
        behind,
        behind_more,
        dense_behind: keeper.dense_behind.iter().take(BEHIND_SHOWN_MAX).map(dense_behind).collect(),
        shards,
        keys: engine.keys.all().into_iter().take(KEYS_SHOWN_MAX).map(key).collect(),
        events: told(&engine.memory.all()),
    }
}

/// The counters that give nothing before a person has acted, in one line: the first in words, then the keys of a few, then
/// how many there are.
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

/// What a fresh look at the ledger finds that the guard has not met yet, where a person must act on it: a file that was
/// damaged or replaced. A ledger that is merely away shows itself beside it.
async fn unfit(engine: &Inner) -> Option<String> {
    let error = engine.desk.trouble().await.filter(|error| error.reason() == Reason::RecoveryRequired)?;
    Some(error.detail().unwrap_or_else(|| error.to_string()))
}

/// What the ring knows of a slot goes before what a fresh look found; the look's cause stands where the ring has none.
fn overlay(report: &mut ShardReport, slot: SlotStatus, now: Instant) {
    if slot.state == SlotState::Empty {
        return;
    }
    slot.state.as_str().clone_into(&mut report.state);
    if let Some((kind, detail)) = slot.cause {
        report.cause = Some(Cause { kind: class_of(kind, slot.why), detail });
    }
    report.since_ms = slot.since.map(|since| ms(now.saturating_duration_since(since)));
    report.retry_in_ms = slot.retry_at.map(|at| ms(at.saturating_duration_since(now)));
    if let Some(word) = slot.word {
        report.word = Some(report_word(&word));
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

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
