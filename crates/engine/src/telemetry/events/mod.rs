//! Events: each is told in a log line, in metrics, and among the recent events of a status. The [table] says what.

mod log;
mod metric;
mod recent;
mod samples;
mod table;
mod telling;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use sequent_core::{Clock, Condition, Env, Event, Events};

use super::throttle::Throttle;
use crate::{
    data::Quarantine,
    open::{foreign_stores::emptied, ledger_watch::Alarm},
};

pub use metric::describe_metrics;
pub(crate) use metric::{begin, ledger_in_trouble};
pub(crate) use recent::Memory;
pub use recent::{RECENT_MAX, Recent};

/// `env` with its events counted, logged and kept before they reach their former receiver. Counters in quarantine are
/// also noted in the data directory. Events of the ledger raise `alarm`.
pub(crate) fn watched(env: Env, memory: &Memory, notes: Option<Quarantine>, alarm: &Alarm) -> Env {
    let (memory, clock, onward) = (memory.clone(), Arc::clone(&env.clock), env.events.clone());
    let (alarm, throttle) = (alarm.clone(), Throttle::default());
    let events = Events::to(move |event| {
        let event = plainly(event);
        let at_ms = Clock::wall_ms(&*clock);
        alarm.hear(&event);
        if let Some(notes) = &notes {
            notes.note(&event, at_ms);
        }
        let told = table::tell(&event);
        metric::count(&told);
        let left_out = if told.is_throttled { throttle.line(told.name, clock.now()) } else { Some(0) };
        if let Some(left_out) = left_out {
            let told = if left_out > 0 { told.number("left_out", left_out) } else { told };
            log::log(&told);
            memory.add(Recent { at_ms, event: event.clone(), times: 1 }, told);
        }
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
