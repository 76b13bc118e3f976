//! Samples of events: at least one of each, and one for each value that a label has.

use std::time::Duration;

use sequent_core::{
    Durability, DurabilityClass, Epoch, ErrorKind, Event, InstanceId, Key, Scope, SlotIndex, ledger::SlotVerb,
};

use crate::telemetry::discard_reason;

/// Events of a slot, and those without one. Their series are at zero from the start; tests and the page of events go
/// over them, too.
pub(super) fn samples(slot: SlotIndex) -> Vec<Event> {
    let mut events = of_kinds(slot);
    events.extend(of_counters(slot));
    let why = || "why".to_owned();
    let (was, is) = (InstanceId::new("was"), InstanceId::new("is"));
    let durable = |class| Durability { class, settings: vec![("fsync".to_owned(), "off".to_owned())] };
    let second = Duration::from_secs(1);
    events.extend([
        Event::Rescued { slot, out: second },
        Event::SlotCommandDone { slot, verb: SlotVerb::Evict.as_str(), who: "ann".to_owned(), why: why() },
        Event::Drained { slot, after: second },
        Event::StoreInstanceChanged { slot, was: Some(was.clone()), is: is.clone() },
        Event::StampedAgain { slot },
        Event::DurabilityChanged { slot, was: DurabilityClass::Durable, is: durable(DurabilityClass::Lossy) },
        Event::ClusterCreated,
        Event::LedgerLost { refused: false, condition: None, detail: why() },
        Event::LedgerLost { refused: true, condition: None, detail: why() },
        Event::LedgerBack { away: second },
        Event::LedgerInstanceChanged { was, is },
        Event::LedgerBehind { detail: why() },
        Event::Unreported { counters: 2 },
    ]);
    let marks = [(false, false), (false, true), (true, false)];
    events.extend(marks.map(|(elsewhere, home)| Event::Unmarked { version: 7, elsewhere, home }));
    events.extend(discard_reason::every().map(|why| Event::Dropped { slot: Some(slot), count: 5, why }));
    events
}

/// Events whose cause is a label.
fn of_kinds(slot: SlotIndex) -> Vec<Event> {
    let (detail, retry) = (|| "why".to_owned(), Duration::from_secs(1));
    let by_command = Event::Evicted { slot, kind: ErrorKind::Refused, detail: detail(), retry_after: None };
    let mut events = vec![by_command];
    for kind in ErrorKind::ALL {
        // An eviction and a failed probe are faults of the slot. A quarantine may be a fault of one counter.
        let scope = kind.verdict().scope;
        if scope == Scope::Slot {
            events.push(Event::Evicted { slot, kind, detail: detail(), retry_after: Some(retry) });
            events.push(Event::ProbeFailed { slot, kind, retry_after: retry });
        }
        if scope != Scope::Nobody {
            let (key, condition) = (Some(Key::from_stored("order")), None);
            events.push(Event::Quarantined { slot, key, kind, condition, detail: detail() });
        }
    }
    events
}

/// Events of counters and keys.
fn of_counters(slot: SlotIndex) -> [Event; 10] {
    let key = || Key::from_stored("order");
    [
        Event::EpochOpened { slot, key: key(), epoch: Epoch::from_stored(1), base: 200, skipped: 100 },
        Event::Lifted { slot, key: key(), to: 200, skipped: 100 },
        Event::Retired { slot, key: key() },
        Event::Regressed { slot, key: key(), detail: "why".to_owned() },
        Event::GivenAbove { slot, key: key(), given: 120, begun_at: 100 },
        Event::Forgotten {
            sequence: key().sequence().to_owned(),
            counters: 2,
            period: "20261123".to_owned(),
        },
        Event::DenseBehind { key: key(), given: 120, found: 100 },
        Event::ClusterBehind { key: key(), above: 120, permitted: 100 },
        Event::NearEnd { key: key(), number: 900, last: 1000 },
        Event::BurnLimited { key: key(), left: 7200, limit: "at most 2.00 numbers a second".to_owned() },
    ]
}
