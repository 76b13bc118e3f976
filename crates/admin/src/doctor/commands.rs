//! Slot commands that keep slots out of the ring. They are not faults. But a drained slot that was forgotten
//! is reported nowhere else.

use std::time::Duration;

use sequent_core::ledger::{Ledger, SlotCommand, SlotVerb};
use sequent_engine::ledger_timeout::within;

use super::report::{Finding, Severity, Site};

/// Findings for the slot commands in force. Empty if they can't be read; the ledger's findings report that.
pub(super) async fn findings(ledger: &dyn Ledger, clock_ms: u64, limit: Duration) -> Vec<Finding> {
    let words = within(limit, "read the words", ledger.slot_commands()).await.unwrap_or_default();
    words.iter().filter(|word| word.verb != SlotVerb::Rescue).map(|word| finding(word, clock_ms)).collect()
}

fn finding(SlotCommand { slot, verb, who, why, at_ms, until_ms }: &SlotCommand, clock_ms: u64) -> Finding {
    let span = |ms: u64| humantime::format_duration(Duration::from_secs(ms / 1000)).to_string();
    let until = until_ms.map_or_else(
        || "until another word".to_owned(),
        |until| format!("for another {}", span(until.saturating_sub(clock_ms))),
    );
    let ago = span(clock_ms.saturating_sub(*at_ms));
    let found =
        format!("an operator's word keeps it out, {until}: {} by {who}, {ago} ago: {why}", verb.as_str());
    let finding = Finding::new(Severity::Info, Site::Slot(*slot), "word", found);
    let finding = finding.causes("no server takes numbers from it: the other slots do its work");
    finding.mend(format!("where it is to serve again: `sequent rescue {slot} --why TEXT`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_told_with_who_said_it_when_and_until_when() {
        let word = |until_ms| SlotCommand {
            slot: 2,
            verb: SlotVerb::Drain,
            who: "ann".to_owned(),
            why: "new disk".to_owned(),
            at_ms: 1_000,
            until_ms,
        };
        let told = finding(&word(None), 7_201_000);
        assert_eq!(
            told.found,
            "an operator's word keeps it out, until another word: drain by ann, 2h ago: new disk"
        );
        assert_eq!((told.severity, told.place), (Severity::Info, Site::Slot(2)));
        assert!(told.mend.contains("`sequent rescue 2 --why TEXT`"));
        assert!(finding(&word(Some(7_261_000)), 7_201_000).found.contains("for another 1m: "));
    }
}
