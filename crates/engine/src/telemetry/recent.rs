//! Recent events for operators: time, severity, slot, class, and a sentence.

use std::time::Duration;

use sequent_core::{DurabilityClass, Event};

use super::{Recent, names::WORD};
use crate::status::{key_display::shown, report::EventReport};

/// Upper limit of the events in a status: the newest.
pub(crate) const EVENTS_SHOWN_MAX: usize = 50;

const NOTE: &str = "info";
const WARNING: &str = "warning";
const ERROR: &str = "error";

/// The newest events of interest, newest first. Frequent events are left out: epochs that keys begin, numbers
/// discarded.
pub(crate) fn event_reports(recent: &[Recent]) -> Vec<EventReport> {
    recent.iter().rev().filter_map(report).take(EVENTS_SHOWN_MAX).collect()
}

fn report(recent: &Recent) -> Option<EventReport> {
    let of = |severity, kind, text: String| EventReport {
        at_ms: recent.at_ms,
        kind,
        severity,
        slot: None,
        cause: None,
        text,
    };
    slots(&recent.event, recent.times, &of).or_else(|| others(&recent.event, &of))
}

/// Makes a report of severity, kind and sentence.
type Of<'a> = &'a dyn Fn(&'static str, &'static str, String) -> EventReport;

fn slots(event: &Event, times: u32, of: Of<'_>) -> Option<EventReport> {
    let (slot, cause, report) = match event {
        Event::Evicted { slot, kind, detail, retry_after } => {
            // Not retried automatically: a slot command keeps it out.
            let cause = if retry_after.is_some() { kind.as_str() } else { WORD };
            (slot, Some(cause), of(WARNING, "evicted", detail.clone()))
        }
        Event::Rescued { slot, out } => {
            (slot, None, of(NOTE, "rescued", format!("is back, after {}", span(*out))))
        }
        Event::ProbeFailed { slot, kind, retry_after } => {
            let often = if times > 1 { format!(" {times} times") } else { String::new() };
            let text = format!("was tried{often} and is not back; next try in {}", span(*retry_after));
            (slot, Some(kind.as_str()), of(NOTE, "probe failed", text))
        }
        Event::Drained { slot, .. } => {
            let done = "this server has nothing on its way there; once all servers say so its store can be taken away";
            (slot, None, of(NOTE, "drained", done.into()))
        }
        Event::Quarantined { slot, key, kind, detail, .. } => {
            let whom = key
                .as_ref()
                .map_or_else(|| "the slot".to_owned(), |key| format!("its counter of {}", shown(key)));
            (
                slot,
                Some(kind.as_str()),
                of(ERROR, "quarantined", format!("nothing is taken from {whom}: {detail}")),
            )
        }
        Event::Retired { slot, key } => (
            slot,
            None,
            of(WARNING, "retired", format!("its counter of {} is at the end of its range", shown(key))),
        ),
        Event::Regressed { slot, key, detail } => {
            (slot, None, of(ERROR, "went back", format!("its counter of {}: {detail}", shown(key))))
        }
        Event::StoreReborn { slot, .. } => {
            (slot, None, of(NOTE, "store reborn", "its store speaks as another instance".into()))
        }
        Event::DurabilityChanged { slot, was, is } => {
            let severity = if is.class == DurabilityClass::Durable { NOTE } else { ERROR };
            let (was, class) = (was.as_str(), is.class.as_str());
            (slot, None, of(severity, "settings changed", format!("its store was {was}, and is {class} now")))
        }
        Event::StampedAgain { slot } => {
            let text = "its store came back empty; numbers go on above its ceilings";
            (slot, None, of(ERROR, "stamped again", text.into()))
        }
        Event::GivenAbove { slot, key, given, begun_at } => {
            let text = format!(
                "its counter of {}: raw ids up to {given} were given here, and its next epoch began at {begun_at}: numbers may have been given \
                 twice",
                shown(key)
            );
            (slot, None, of(ERROR, "given above its ceiling", text))
        }
        Event::Obeyed { slot, verb, who, why } => {
            (slot, None, of(NOTE, "word obeyed", format!("{verb}, said {who}: {why}")))
        }
        _ => return None,
    };
    Some(EventReport { slot: Some(*slot), cause, ..report })
}

fn others(event: &Event, of: Of<'_>) -> Option<EventReport> {
    Some(match event {
        Event::LedgerLost { refused: true, detail, .. } => of(ERROR, "ledger refuses", detail.clone()),
        Event::LedgerLost { refused: false, detail, .. } => of(ERROR, "ledger lost", detail.clone()),
        Event::LedgerBack { away } => {
            of(WARNING, "ledger back", format!("it answers again, after {}", span(*away)))
        }
        Event::LedgerReborn { .. } => {
            of(NOTE, "ledger reborn", "the ledger speaks as another instance".into())
        }
        Event::LedgerBehind { detail } => of(ERROR, "ledger behind", format!("{detail}: `sequent recover`")),
        Event::DenseBehind { key, given, found } => {
            let key = shown(key);
            let text = format!(
                "{found} numbers of the dense counter {key} are given, says the ledger; this server knows of {given}: \
                 `sequent recover`"
            );
            of(ERROR, "dense behind", text)
        }
        Event::ClusterBehind { key, above, permitted } => {
            let key = shown(key);
            let text =
                format!("a caller of {key} was given {above}, and {permitted} is the highest there can be");
            of(ERROR, "cluster behind", text)
        }
        Event::Unmarked { elsewhere: false, .. } => {
            of(WARNING, "mark lost", "no other shard took the ledger's mark".into())
        }
        _ => return None,
    })
}

/// A duration for display, no finer than it matters.
fn span(duration: Duration) -> String {
    let rounded = match duration.as_millis() {
        ..1000 => Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(0)),
        _ => Duration::from_secs(duration.as_secs()),
    };
    humantime::format_duration(rounded).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::ErrorKind;

    #[test]
    fn the_newest_come_first_and_what_happens_all_the_time_is_left_out() {
        let evicted = |retry_after| Event::Evicted {
            slot: 2,
            kind: ErrorKind::Timeout,
            detail: "take: no answer within 1000 ms".to_owned(),
            retry_after,
        };
        let by_itself = evicted(Some(Duration::from_secs(1)));
        let burnt = Event::Dropped { slot: None, count: 7, why: "aged" };
        let back = Event::Rescued { slot: 2, out: Duration::from_millis(61_250) };
        let recent: Vec<Recent> = (1..)
            .zip([by_itself, burnt, back])
            .map(|(at_ms, event)| Recent { at_ms, event, times: 1 })
            .collect();
        let told = event_reports(&recent);
        assert_eq!(
            told.iter().map(|event| (event.at_ms, event.kind)).collect::<Vec<_>>(),
            [(3, "rescued"), (1, "evicted")]
        );
        assert_eq!((told[1].slot, told[1].cause, told[1].severity), (Some(2), Some("timeout"), "warning"));
        assert_eq!(told[0].text, "is back, after 1m 1s");
        let by_hand = report(&Recent { at_ms: 4, event: evicted(None), times: 1 }).unwrap();
        assert_eq!(by_hand.cause, Some(WORD), "an operator's word keeps it out");
        let many: Vec<Recent> = (0..200).map(|_| recent[0].clone()).collect();
        assert_eq!(super::event_reports(&many).len(), EVENTS_SHOWN_MAX);
    }
}
