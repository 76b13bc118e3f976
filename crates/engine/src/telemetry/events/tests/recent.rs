//! What a status shows of recent events.

use std::time::Duration;

use sequent_core::{Condition, Env, ErrorKind, Key};

use super::{
    super::{Memory, RECENT_MAX, recent::SHOWN_MAX, watched},
    *,
};
use crate::open::ledger_watch::Alarm;

fn memory() -> (Memory, Env) {
    let memory = Memory::default();
    let env = watched(Env::default(), &memory, None, &Alarm::default());
    (memory, env)
}

/// Slots and sentences, the newest first.
fn lines(memory: &Memory) -> Vec<(Option<u16>, String)> {
    memory.reports().into_iter().map(|line| (line.slot, line.text)).collect()
}

#[test]
fn a_ledger_that_was_emptied_is_told_as_that_with_what_to_do() {
    let (memory, env) = memory();
    let gone = "refused: write ledger mysql://db/seq: 1146 (42S02): Table 'seq.x' doesn't exist: the tables are gone, or were \
                never made here";
    let missing = Some(Condition::TablesMissing);
    for (refused, condition, detail) in
        [(true, missing, gone), (false, None, "unavailable: connection refused")]
    {
        env.events.emit(Event::LedgerLost { refused, condition, detail: detail.to_owned() });
    }
    // The newest comes first.
    let told = memory.reports();
    assert!(told[1].text.contains("the ledger was emptied, or its tables were dropped"), "{told:?}");
    assert!(told[1].text.contains("`sequent recover --bump N`") && told[1].text.contains("1146"), "{told:?}");
    assert_eq!(told[0].text, "ledger can't be reached: unavailable: connection refused");
}

#[test]
fn probes_that_failed_in_a_row_are_one_entry_that_counts_them() {
    let (memory, env) = memory();
    let failed = |slot, seconds| {
        let retry_after = Duration::from_secs(seconds);
        env.events.emit(Event::ProbeFailed { slot, kind: ErrorKind::Timeout, retry_after });
    };
    (1..=3).for_each(|seconds| [1, 2].into_iter().for_each(|slot| failed(slot, seconds)));
    let text = "slot is still out: a probe failed, the next is in";
    let often = |slot| (Some(slot), format!("{text} 3s (3 times)"));
    assert_eq!(lines(&memory), [often(2), often(1)]);
    env.events.emit(Event::Rescued { slot: 1, out: Duration::from_secs(9) });
    failed(1, 7);
    let back = (Some(1), "slot rescued: it was out for 9s".to_owned());
    assert_eq!(lines(&memory), [(Some(1), format!("{text} 7s")), back, often(2), often(1)]);
}

#[test]
fn discards_are_an_entry_a_reason() {
    let (memory, env) = memory();
    for why in ["aged", "late", "aged"] {
        env.events.emit(Event::Dropped { slot: None, count: 7, why });
    }
    let text = |text: &str| (None, text.to_owned());
    assert_eq!(lines(&memory), [text("numbers discarded: aged (2 times)"), text("numbers discarded: late")]);
}

#[test]
fn what_callers_cause_has_one_entry_a_second() {
    let (memory, env) = memory();
    for above in 1..100 {
        let key = Key::from_stored("order");
        env.events.emit(Event::ClusterBehind { key, above, permitted: 0 });
    }
    assert!(memory.reports().len() < 50, "{:?}", memory.reports());
}

#[test]
fn the_memory_is_bounded_and_keeps_the_latest() {
    let (memory, env) = memory();
    let second = Duration::from_secs(1);
    let epoch = sequent_core::Epoch::from_stored(1);
    for version in 0..RECENT_MAX as u64 + 3 {
        env.events.emit(Event::Unmarked { version, elsewhere: false, home: true });
        let key = Key::from_stored("order");
        // It happens all the time, and is left out.
        env.events.emit(Event::EpochOpened { slot: 0, key, epoch, base: 9, skipped: 0 });
    }
    let all = memory.all();
    assert_eq!(all.len(), RECENT_MAX);
    assert!(matches!(all[0].event, Event::Unmarked { version: 3, .. }));
    env.events.emit(Event::Rescued { slot: 0, out: second });
    let reports = memory.reports();
    assert_eq!((reports.len(), reports[0].name), (SHOWN_MAX, "rescued"), "the newest come first");
}
