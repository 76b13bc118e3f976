//! What happened to slots and ledger while a bench ran: said at once, and kept for the summary.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use sequent_core::{Event, SlotIndex};
use serde::Serialize;

use crate::output;

/// The most entries that are kept; later ones are said and counted.
const ENTRIES_MAX: usize = 1000;

/// One thing that happened.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Entry {
    /// Since the start of the bench.
    at_ms: u64,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<SlotIndex>,
    /// The class of the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    detail: String,
}

impl Entry {
    /// The entry as a line for people.
    pub(crate) fn line(&self) -> String {
        let Self { at_ms, event, slot, cause, detail } = self;
        let slot = slot.map(|slot| format!(" slot {slot}")).unwrap_or_default();
        let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        format!("{:>8.3}s {event}{slot}{cause}{detail}", Duration::from_millis(*at_ms).as_secs_f64())
    }
}

/// All that happened.
pub(crate) struct Journal {
    started: Instant,
    kept: Mutex<Kept>,
}

/// The counts are whole, the entries at most [`ENTRIES_MAX`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    pub(crate) evictions: u64,
    pub(crate) rescues: u64,
    pub(crate) entries: Vec<Entry>,
}

impl Journal {
    /// An empty one, whose times count from `started`.
    pub(crate) fn new(started: Instant) -> Self {
        Self { started, kept: Mutex::default() }
    }

    /// Notes an event that came at `now`; the entry, where it is worth a line.
    pub(crate) fn note(&self, now: Instant, event: &Event) -> Option<Entry> {
        let (name, slot, cause, detail) = describe(event)?;
        let at_ms =
            u64::try_from(now.saturating_duration_since(self.started).as_millis()).unwrap_or(u64::MAX);
        let detail = cause.map_or(detail.as_str(), |cause| output::detail(cause, &detail)).to_owned();
        let entry = Entry { at_ms, event: name, slot, cause, detail };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Evicted { .. } => kept.evictions += 1,
            Event::Rescued { .. } => kept.rescues += 1,
            _ => {}
        }
        if kept.entries.len() < ENTRIES_MAX {
            kept.entries.push(entry.clone());
        }
        Some(entry)
    }

    /// What was kept.
    pub(crate) fn kept(&self) -> Kept {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

type Description = (&'static str, Option<SlotIndex>, Option<&'static str>, String);

/// Name, slot, cause and detail; `None` for what is no news in a bench (a counter's first life).
fn describe(event: &Event) -> Option<Description> {
    let retry = |after: Duration| format!("next try in {}", humantime::format_duration(whole_ms(after)));
    Some(match event {
        Event::Evicted { slot, kind, detail, retry_after } => {
            let next = retry_after.map(|after| format!(" ({})", retry(after))).unwrap_or_default();
            ("evicted", Some(*slot), Some(kind.as_str()), format!("{detail}{next}"))
        }
        Event::Rescued { slot, out } => {
            let out = humantime::format_duration(whole_ms(*out));
            ("rescued", Some(*slot), None, format!("after {out}"))
        }
        Event::ProbeFailed { slot, kind, retry_after } => {
            ("probe failed", Some(*slot), Some(kind.as_str()), retry(*retry_after))
        }
        Event::Quarantined { slot, key, kind, detail } => {
            let key = key.as_ref().map(|key| format!("key {key}: ")).unwrap_or_default();
            ("quarantined", Some(*slot), Some(kind.as_str()), format!("{key}{detail}"))
        }
        Event::LifeOpened { base: 0, .. } => return None,
        Event::LifeOpened { slot, key, base, skipped, .. } => {
            ("life opened", Some(*slot), None, format!("key {key}: above {base}, {skipped} raw ids skipped"))
        }
        Event::Retired { slot, key } => ("retired", Some(*slot), None, format!("key {key}")),
        Event::Regressed { slot, key, detail } => {
            ("regressed", Some(*slot), Some("regressed"), format!("key {key}: {detail}"))
        }
        Event::StoreReborn { slot, is, .. } => ("store reborn", Some(*slot), None, format!("now {is}")),
        Event::StampedAgain { slot } => ("stamped again", Some(*slot), None, String::new()),
        Event::Obeyed { slot, verb, who, why } => {
            ("obeyed", Some(*slot), None, format!("{verb}, said by {who}: {why}"))
        }
        other => return describe_ledger(other),
    })
}

fn describe_ledger(event: &Event) -> Option<Description> {
    Some(match event {
        Event::LedgerLost { refused, detail } => {
            (if *refused { "ledger refuses" } else { "ledger lost" }, None, None, detail.clone())
        }
        Event::LedgerBack { away } => {
            ("ledger back", None, None, format!("after {}", humantime::format_duration(whole_ms(*away))))
        }
        Event::LedgerReborn { is, .. } => ("ledger reborn", None, None, format!("now {is}")),
        Event::LedgerBehind { detail } => ("ledger behind", None, None, detail.clone()),
        Event::DenseBehind { key, given, found } => {
            ("dense behind", None, None, format!("key {key}: {given} given, {found} found"))
        }
        Event::GivenAbove { slot, key, given, begun_at } => (
            "given above",
            Some(*slot),
            None,
            format!("key {key}: {given} given, the next life began at {begun_at}"),
        ),
        Event::Unmarked { version, .. } => ("unmarked", None, None, format!("version {version}")),
        Event::Dropped { slot, count, why } => ("dropped", *slot, None, format!("{count} burnt: {why}")),
        _ => return None,
    })
}

fn whole_ms(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "any instant will do")]
mod tests {
    use super::*;
    use sequent_core::ErrorKind;

    #[test]
    fn an_eviction_is_told_with_its_cause() {
        let started = Instant::now();
        let journal = Journal::new(started);
        let event = Event::Evicted {
            slot: 2,
            kind: ErrorKind::Unavailable,
            detail: "unavailable: unable to open database file".into(),
            retry_after: Some(Duration::from_micros(512_300)),
        };
        let entry = journal.note(started + Duration::from_millis(1500), &event).unwrap();
        assert_eq!(
            entry.line(),
            "   1.500s evicted slot 2: unavailable: unable to open database file (next try in 512ms)"
        );
        journal.note(started, &Event::Rescued { slot: 2, out: Duration::from_secs(1) });
        let kept = journal.kept();
        assert_eq!((kept.evictions, kept.rescues, kept.entries.len()), (1, 1, 2));
    }

    #[test]
    fn a_flood_is_counted_whole_and_kept_in_part() {
        let started = Instant::now();
        let journal = Journal::new(started);
        for _ in 0..ENTRIES_MAX + 5 {
            journal.note(started, &Event::Rescued { slot: 0, out: Duration::ZERO });
        }
        let kept = journal.kept();
        assert_eq!((kept.rescues, kept.entries.len()), (ENTRIES_MAX as u64 + 5, ENTRIES_MAX));
    }
}
