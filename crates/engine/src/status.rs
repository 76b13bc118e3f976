//! A running engine as an operator sees it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_core::{Event, Key};
use sequent_ha::{SlotState, SlotStatus};

use crate::{
    Reason, Recent,
    desk::report_word,
    engine::Inner,
    events::told,
    live::Live,
    report::{BehindReport, Cause, KeyReport, ShardReport, Status},
    slots::class_of,
};

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
        cluster: record.cluster.to_string(),
        shard_bits: record.layout.shard_bits(),
        memory_bits: record.layout.memory_bits(),
        epoch: record.epoch,
        trouble: keeper
            .trouble
            .map(|trouble| trouble.error().to_string())
            .or_else(|| keeper.dense_behind.first().map(dense_behind))
            .or(unfit),
        ledger_version: keeper.version,
        ledger_away_ms: keeper.away.map(ms),
        unmarked: keeper.unmarked,
        behind: engine.memory.all().iter().filter_map(behind).collect(),
        shards,
        keys: engine.keys.all().into_iter().take(KEYS_SHOWN_MAX).map(key).collect(),
        events: told(&engine.memory.all()),
    }
}

fn dense_behind((key, given, found): &(Key, u64, u64)) -> String {
    format!(
        "{found} numbers of the dense counter {key} are given, says the ledger, and this server knows of {given}: it gives none \
         before `sequent recover --bump N`"
    )
}

fn behind(recent: &Recent) -> Option<BehindReport> {
    let Event::ClusterBehind { key, above, permitted } = &recent.event else { return None };
    Some(BehindReport { key: key.to_string(), above: *above, permitted: *permitted, at_ms: recent.at_ms })
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
