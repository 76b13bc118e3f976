//! What the ledger notes for operators: slot commands that keep slots out of the ring, which are not faults,
//! and raw ids that a server gave above the base of their counter's next epoch.

use std::time::Duration;

use sequent_core::{
    Key,
    ledger::{Ledger, LedgerNote, NoteSubject, SlotCommand, SlotVerb},
};
use sequent_engine::{key_display::shown, ledger_timeout::within};

use super::{
    findings::Kind,
    report::{Finding, Site},
};

/// The findings. Other findings report a ledger that can't be read.
pub(super) async fn findings(ledger: &dyn Ledger, clock_ms: u64, limit: Duration) -> Vec<Finding> {
    let mut findings = slot_commands(ledger, clock_ms, limit).await;
    findings.extend(given_twice(ledger, limit).await);
    findings
}

/// The slot commands in force, but for `rescue`. A drained slot that was forgotten is reported nowhere else.
async fn slot_commands(ledger: &dyn Ledger, clock_ms: u64, limit: Duration) -> Vec<Finding> {
    let commands = within(limit, "read slot commands", ledger.slot_commands()).await.unwrap_or_default();
    commands
        .iter()
        .filter(|command| command.verb != SlotVerb::Rescue)
        .map(|command| kept_out(command, clock_ms))
        .collect()
}

fn kept_out(SlotCommand { slot, verb, who, why, at_ms, until_ms }: &SlotCommand, clock_ms: u64) -> Finding {
    let span = |ms: u64| humantime::format_duration(Duration::from_secs(ms / 1000)).to_string();
    let until = until_ms.map_or_else(
        || "until the next command".to_owned(),
        |until| format!("for another {}", span(until.saturating_sub(clock_ms))),
    );
    let ago = span(clock_ms.saturating_sub(*at_ms));
    let found = format!("kept out of the ring {until}: {} by {who}, {ago} ago: {why}", verb.as_str());
    Finding::new(Kind::SlotCommand, Site::Slot(*slot), found)
}

/// One finding for each key with such a note, until an operator has advanced the key.
async fn given_twice(ledger: &dyn Ledger, limit: Duration) -> Vec<Finding> {
    let notes = within(limit, "read notes of keys", ledger.notes()).await.unwrap_or_default();
    let given = notes.iter().filter_map(|note| match &note.about {
        NoteSubject::GivenAbove(key) => Some((key, note.to)),
        _ => None,
    });
    given
        .filter(|(key, raw)| !is_advanced(key, *raw, &notes))
        .map(|(key, raw)| given_above(key, raw))
        .collect()
}

/// Whether an operator has advanced the key since. The server itself begins the next epoch at exactly this
/// raw id.
fn is_advanced(key: &Key, raw: u64, notes: &[LedgerNote]) -> bool {
    let begun = NoteSubject::BegunAt(key.clone());
    notes.iter().any(|note| note.about == begun && note.to > raw)
}

fn given_above(key: &Key, raw: u64) -> Finding {
    let key = shown(key);
    let found =
        format!("{key}: a server gave raw ids up to {raw} above where the next epoch of their counter began");
    Finding::new(Kind::GivenTwice, Site::Ledger, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_reported_with_who_gave_it_when_and_until_when() {
        let command = |until_ms| SlotCommand {
            slot: 2,
            verb: SlotVerb::Drain,
            who: "ann".to_owned(),
            why: "new disk".to_owned(),
            at_ms: 1_000,
            until_ms,
        };
        let found = kept_out(&command(None), 7_201_000);
        assert_eq!(
            found.found,
            "kept out of the ring until the next command: drain by ann, 2h ago: new disk"
        );
        assert_eq!((found.kind, found.place), (Kind::SlotCommand, Site::Slot(2)));
        assert!(found.advice.contains("`sequent rescue 2 --why TEXT`"), "{found:?}");
        assert!(kept_out(&command(Some(7_261_000)), 7_201_000).found.contains("for another 1m: "));
    }

    #[test]
    fn ids_given_twice_are_found_until_an_operator_has_advanced_the_key() {
        let key = Key::from_stored("order|8:20170304");
        let notes = |begun| {
            let subjects =
                [(NoteSubject::GivenAbove(key.clone()), 40), (NoteSubject::BegunAt(key.clone()), begun)];
            subjects.map(|(about, to)| LedgerNote { about, to })
        };
        assert!(!is_advanced(&key, 40, &notes(40)), "the server's own next epoch");
        assert!(is_advanced(&key, 40, &notes(41)));
        assert!(given_above(&key, 40).found.contains("raw ids up to 40"));
    }
}
