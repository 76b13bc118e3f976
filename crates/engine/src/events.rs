//! What happened, as a log line, a metric, and a line in a short memory; never anything per number.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sequent_core::{Clock, Env, Event, Events, Key, SlotIndex};

use crate::{data::Quarantine, footing::Alarm};

/// How many events an engine remembers for its status.
pub const RECENT_MAX: usize = 256;

/// An event with its time.
#[derive(Debug, Clone)]
pub struct Recent {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What.
    pub event: Event,
}

/// The last [`RECENT_MAX`] events.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<VecDeque<Recent>>>);

impl Memory {
    /// Oldest first.
    pub(crate) fn all(&self) -> Vec<Recent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn add(&self, recent: Recent) {
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() == RECENT_MAX {
            events.pop_front();
        }
        events.push_back(recent);
    }
}

/// `env` with its events logged, counted, remembered and, where a person must act, noted before they go where they went.
/// What happened to the ledger raises `alarm`.
pub(crate) fn watched(env: Env, memory: &Memory, notes: Option<Quarantine>, alarm: &Alarm) -> Env {
    let (memory, clock, onward) = (memory.clone(), Arc::clone(&env.clock), env.events.clone());
    let alarm = alarm.clone();
    let events = Events::to(move |event| {
        alarm.hear(&event);
        log(&event);
        count(&event);
        let at_ms = Clock::wall_ms(&*clock);
        if let Some(notes) = &notes {
            notes.note(&event, at_ms);
        }
        memory.add(Recent { at_ms, event: event.clone() });
        onward.emit(event);
    });
    Env { events, ..env }
}

/// ERROR means that a person should look; WARN, that the cluster deals with it.
fn log(event: &Event) {
    match event {
        Event::Evicted { slot, kind, detail, retry_after } => {
            let retry_ms = retry_after.map_or(-1, millis);
            tracing::warn!(slot, %kind, detail, retry_ms, "slot evicted");
        }
        Event::Rescued { slot, out } => tracing::info!(slot, out_ms = millis(*out), "slot rescued"),
        Event::ProbeFailed { slot, kind, retry_after } => {
            tracing::debug!(slot, %kind, retry_ms = millis(*retry_after), "rescue tried and failed");
        }
        Event::Quarantined { slot, key, kind, detail } => {
            let what = if key.is_some() { "counter quarantined" } else { "slot quarantined" };
            tracing::error!(slot, key = shown(key.as_ref()), %kind, detail, "{what}");
        }
        Event::Retired { slot, key } => tracing::warn!(slot, %key, "counter is at the end of its range"),
        Event::LifeOpened { slot, key, life, base, skipped } => {
            tracing::debug!(slot, %key, %life, base, skipped, "counter began a new life");
        }
        Event::Regressed { slot, key, detail } => tracing::error!(slot, %key, detail, "counter went back"),
        Event::StoreReborn { slot, was, is } => {
            let was = was.as_ref().map(ToString::to_string);
            tracing::info!(slot, was, %is, "store speaks as another incarnation");
        }
        Event::StampedAgain { slot } => {
            tracing::error!(
                slot,
                "known store came back empty: stamped again, numbers go on above its ceilings"
            );
        }
        Event::LedgerLost { detail } => tracing::error!(detail, "ledger can't be reached"),
        Event::LedgerBack { away } => tracing::warn!(away_ms = millis(*away), "ledger answers again"),
        Event::LedgerReborn { was, is } => tracing::info!(%was, %is, "ledger speaks as another incarnation"),
        Event::LedgerBehind { version, mark } => {
            tracing::error!(
                version,
                mark,
                "ledger is older than its marks: nothing is opened before `recover`"
            );
        }
        Event::Unwitnessed { slot, count } => {
            tracing::warn!(slot, count, "raw ids left above their ceiling while the ledger is away");
        }
        Event::Unmarked { version, elsewhere, home } => unmarked(*version, *elsewhere, *home),
        Event::Dropped { slot, count, why } => tracing::info!(slot, count, why, "numbers burnt"),
        Event::Obeyed { slot, verb, who, why } => {
            tracing::info!(slot, verb, who, why, "operator's word obeyed");
        }
        other => tracing::info!(event = ?other, "event"),
    }
}

/// A version that nobody bears is worse than one that lies in the data directory alone.
fn unmarked(version: u64, elsewhere: bool, home: bool) {
    match (elsewhere, home) {
        (false, false) => tracing::error!(
            version,
            "neither another shard nor the data directory took the ledger's mark: a ledger that goes back now goes unnoticed"
        ),
        (true, false) => tracing::error!(version, "the data directory did not take the ledger's mark"),
        (_, true) => tracing::warn!(version, "no other shard took the ledger's mark"),
    }
}

fn count(event: &Event) {
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
        Event::LedgerBehind { .. } => metrics::gauge!(LEDGER_BEHIND).set(1.0),
        Event::Unwitnessed { slot, count } => {
            metrics::counter!(UNWITNESSED, "slot" => label(*slot)).increment(*count);
        }
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
const UNWITNESSED: &str = "sequent_unwitnessed_raw_ids_total";
const UNMARKED: &str = "sequent_ledger_versions_unmarked_total";
const DROPPED: &str = "sequent_numbers_burnt_total";

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
        (UNWITNESSED, "Raw ids that left above their ceiling while the ledger was away"),
        (UNMARKED, "Ledger versions that no other shard could be marked with"),
        (DROPPED, "Numbers burnt: given up before they were handed out, by reason"),
    ];
    for (name, meaning) in counters {
        metrics::describe_counter!(name, metrics::Unit::Count, meaning);
    }
    metrics::describe_gauge!(LEDGER_AWAY, metrics::Unit::Count, "1 while the ledger can't be reached");
    metrics::describe_gauge!(
        LEDGER_BEHIND,
        metrics::Unit::Count,
        "1 while the ledger is older than its marks"
    );
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn shown(key: Option<&Key>) -> Option<&str> {
    key.map(Key::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_bounded_and_keeps_the_latest() {
        let memory = Memory::default();
        let env = watched(Env::default(), &memory, None, &Alarm::default());
        for version in 0..RECENT_MAX as u64 + 3 {
            env.events.emit(Event::Unmarked { version, elsewhere: false, home: true });
        }
        let all = memory.all();
        assert_eq!(all.len(), RECENT_MAX);
        assert!(matches!(all[0].event, Event::Unmarked { version: 3, .. }));
    }
}
