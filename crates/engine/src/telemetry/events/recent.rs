//! Recent events, for the status.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use sequent_core::{Event, sync};

use super::telling::{InStatus, Telling};
use crate::{status::report::EventReport, telemetry::quarantined::Quarantined};

/// Number of events that an engine keeps for its status.
pub const RECENT_MAX: usize = 256;

/// Upper limit of the events in a status: the newest.
pub(super) const SHOWN_MAX: usize = 50;

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

/// The last [`RECENT_MAX`] events that a status shows, and the lasting state that follows from events.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    entries: Arc<Mutex<VecDeque<(Recent, Telling)>>>,
    /// The counters in quarantine.
    pub(crate) quarantined: Quarantined,
}

impl Memory {
    /// The recent events, oldest first.
    pub(crate) fn all(&self) -> Vec<Recent> {
        sync::lock(&self.entries).iter().map(|(recent, _)| recent.clone()).collect()
    }

    /// The newest events as a status shows them, newest first.
    pub(crate) fn reports(&self) -> Vec<EventReport> {
        sync::lock(&self.entries).iter().rev().take(SHOWN_MAX).map(report).collect()
    }

    pub(super) fn add(&self, mut recent: Recent, told: Telling) {
        self.quarantined.hear(&recent.event);
        if told.in_status == InStatus::Hidden {
            return;
        }
        let mut entries = sync::lock(&self.entries);
        if let Some(at) = repeated(&entries, &told) {
            recent.times += entries.remove(at).map_or(0, |(before, _)| before.times);
        }
        if entries.len() == RECENT_MAX {
            entries.pop_front();
        }
        entries.push_back((recent, told));
    }
}

/// The position of the entry that an event repeats. Any other event of its slot that has entries of its own comes
/// between two repetitions.
fn repeated(entries: &VecDeque<(Recent, Telling)>, new: &Telling) -> Option<usize> {
    let is_same = |told: &Telling| {
        (told.name, told.kind, told.text_of("why")) == (new.name, new.kind, new.text_of("why"))
    };
    let of_slot = entries.iter().enumerate().rev().filter(|(_, (_, told))| told.slot == new.slot);
    of_slot
        .take_while(|(_, (_, told))| new.in_status == InStatus::Collapsed && told.in_status == new.in_status)
        .find(|(_, (_, told))| is_same(told))
        .map(|(at, _)| at)
}

fn report((recent, told): &(Recent, Telling)) -> EventReport {
    let often = if recent.times > 1 { format!(" ({} times)", recent.times) } else { String::new() };
    EventReport {
        at_ms: recent.at_ms,
        name: told.name,
        severity: told.severity.as_str(),
        slot: told.slot,
        kind: told.kind,
        text: format!("{}{often}", told.text),
    }
}
