//! Telemetry: each event becomes a log line, a metric, and an entry in a short history. Nothing is recorded per
//! number.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use sequent_core::{Clock, Condition, Env, Event, Events};

use crate::{
    data::Quarantine,
    open::{foreign_stores::emptied, ledger_watch::Alarm},
};

mod discard_reason;
mod gauges;
mod instrumented;
mod log;
mod metric;
mod names;
mod per_sequence;
mod quarantined;
mod recent;
mod throttle;

pub(crate) use gauges::Gauges;
pub(crate) use instrumented::{MeteredLedger, MeteredSource, MeteredStore, Refills, Waits};
pub use metric::describe_metrics;
pub(crate) use metric::{cluster_behind, forgotten, ledger_in_trouble};
pub use names::{METRICS, Metric, MetricKind};
pub(crate) use quarantined::Quarantined;
pub(crate) use recent::event_reports;
pub(crate) use throttle::Throttle;

/// Number of events that an engine keeps for its status.
pub const RECENT_MAX: usize = 256;

/// An event with its time.
#[derive(Debug, Clone)]
pub struct Recent {
    /// When it happened, in milliseconds since 1970.
    pub at_ms: u64,
    /// The event.
    pub event: Event,
    /// How often it happened in a row: each repetition replaces the last entry.
    pub times: u32,
}

/// The last [`RECENT_MAX`] events, and the lasting state that follows from events.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    recent: Arc<Mutex<VecDeque<Recent>>>,
    /// The counters in quarantine.
    pub(crate) quarantined: Quarantined,
}

impl Memory {
    /// The recent events, oldest first.
    pub(crate) fn all(&self) -> Vec<Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn add(&self, mut recent: Recent) {
        self.quarantined.hear(&recent.event);
        let mut events = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = same_again(&events, &recent.event) {
            recent.times += events.remove(at).map_or(0, |before| before.times);
        }
        if events.len() == RECENT_MAX {
            events.pop_front();
        }
        events.push_back(recent);
    }
}

/// The position of a slot's last failed probe, if the new event only repeats it. Otherwise a slot that is out for a
/// day would displace all other events.
fn same_again(events: &VecDeque<Recent>, new: &Event) -> Option<usize> {
    let Event::ProbeFailed { slot: tried, .. } = new else { return None };
    let moves = |event: &Event| match event {
        Event::Evicted { slot, .. }
        | Event::Rescued { slot, .. }
        | Event::ProbeFailed { slot, .. }
        | Event::Drained { slot, .. }
        | Event::Quarantined { slot, key: None, .. } => slot == tried,
        _ => false,
    };
    let at = events.iter().rposition(|recent| moves(&recent.event))?;
    matches!(events.get(at)?.event, Event::ProbeFailed { .. }).then_some(at)
}

/// `env` with its events logged, counted and kept before they reach their former receiver. Events that need an
/// operator are also noted. Events of the ledger raise `alarm`.
pub(crate) fn watched(env: Env, memory: &Memory, notes: Option<Quarantine>, alarm: &Alarm) -> Env {
    let (memory, clock, onward) = (memory.clone(), Arc::clone(&env.clock), env.events.clone());
    let alarm = alarm.clone();
    let events = Events::to(move |event| {
        let event = plainly(event);
        alarm.hear(&event);
        metric::count(&event);
        log::log(&event);
        let at_ms = Clock::wall_ms(&*clock);
        if let Some(notes) = &notes {
            notes.note(&event, at_ms);
        }
        memory.add(Recent { at_ms, event: event.clone(), times: 1 });
        onward.emit(event);
    });
    Env { events, ..env }
}

/// Gives the event of an emptied ledger a text that explains it and says what to do.
fn plainly(event: Event) -> Event {
    match event {
        Event::LedgerLost { condition, detail, .. } if condition.is_some_and(Condition::is_missing) => {
            Event::LedgerLost { refused: true, condition, detail: emptied(&detail) }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::ErrorKind;

    use super::*;

    #[test]
    fn a_ledger_that_was_emptied_is_told_as_that_with_what_to_do() {
        let memory = Memory::default();
        let env = watched(Env::default(), &memory, None, &Alarm::default());
        let gone = "refused: write ledger mysql://db/seq: 1146 (42S02): Table 'seq.x' doesn't exist: the tables are gone, or were \
                    never made here";
        let missing = Some(Condition::TablesMissing);
        for (refused, condition, detail) in
            [(true, missing, gone), (false, None, "unavailable: connection refused")]
        {
            env.events.emit(Event::LedgerLost { refused, condition, detail: detail.to_owned() });
        }
        // The newest comes first.
        let told = event_reports(&memory.all());
        assert!(told[1].text.starts_with("the ledger was emptied, or its tables were dropped"), "{told:?}");
        assert!(
            told[1].text.contains("`sequent recover --bump N`") && told[1].text.contains("1146"),
            "{told:?}"
        );
        assert_eq!(told[0].text, "unavailable: connection refused");
    }

    #[test]
    fn tries_that_failed_in_a_row_are_one_line_that_counts_them() {
        let memory = Memory::default();
        let env = watched(Env::default(), &memory, None, &Alarm::default());
        let failed = |slot, seconds| {
            let retry_after = std::time::Duration::from_secs(seconds);
            env.events.emit(Event::ProbeFailed { slot, kind: ErrorKind::Timeout, retry_after });
        };
        let rescued = || env.events.emit(Event::Rescued { slot: 1, out: std::time::Duration::from_secs(9) });
        (1..=3).for_each(|seconds| [1, 2].into_iter().for_each(|slot| failed(slot, seconds)));
        let tried = |slot: u16, text: &str| (Some(slot), text.to_owned());
        let lines = || -> Vec<(Option<u16>, String)> {
            event_reports(&memory.all()).into_iter().map(|line| (line.slot, line.text)).collect()
        };
        let often = "was tried 3 times and is not back; next try in 3s";
        assert_eq!(lines(), [tried(2, often), tried(1, often)]);
        rescued();
        failed(1, 7);
        let once = "was tried and is not back; next try in 7s";
        let back = "is back, after 9s";
        assert_eq!(lines(), [tried(1, once), tried(1, back), tried(2, often), tried(1, often)]);
    }

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
