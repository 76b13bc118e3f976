//! Meaning of a verdict: severity, possible effects, and the repair.

use std::collections::BTreeMap;

use sequent_core::{Condition, DurabilityClass, SlotIndex};
use sequent_engine::data::leap_advice;

use super::{Kind, Verdict};
use crate::doctor::report::{Finding, Severity, Site};

/// How many keys a finding names.
pub(crate) const KEYS_NAMED_MAX: usize = 5;

/// One finding for each kind of verdict in a slot.
pub(crate) fn findings(slot: SlotIndex, verdicts: &[Verdict], class: DurabilityClass) -> Vec<Finding> {
    let mut groups: BTreeMap<Kind, Vec<&Verdict>> = BTreeMap::new();
    for verdict in verdicts {
        groups.entry(verdict.kind).or_default().push(verdict);
    }
    groups.into_iter().map(|(kind, verdicts)| finding(slot, kind, &verdicts, class)).collect()
}

fn finding(slot: SlotIndex, kind: Kind, verdicts: &[&Verdict], class: DurabilityClass) -> Finding {
    let named = verdicts.iter().take(KEYS_NAMED_MAX);
    let keys: Vec<String> = named.map(|verdict| verdict.counter.key.to_string()).collect();
    let first = verdicts.first().map_or("", |verdict| verdict.text.as_str());
    let found = match verdicts.len() {
        1 => format!("counter {}: {first}", keys.concat()),
        count => {
            let more = if count > keys.len() { ", …" } else { "" };
            format!("{count} counters ({}{more}); of the first: {first}", keys.join(", "))
        }
    };
    let (severity, causes, mend) = meaning(kind, class);
    let rescue = if kind.is_far() { "; then `sequent rescue` the slot" } else { "" };
    let mend = format!("{mend}{rescue}{}", least(verdicts));
    let finding = Finding::new(severity, Site::Slot(slot), "counter", found).causes(causes).mend(mend);
    Finding { keys, ..finding }
}

/// The least numbers to advance to. An advance to less leaves these rows as they are.
fn least(verdicts: &[&Verdict]) -> String {
    let aimed = verdicts.iter().filter_map(|verdict| Some((&verdict.counter.key, verdict.to?)));
    let aims: Vec<String> =
        aimed.take(KEYS_NAMED_MAX).map(|(key, to)| format!("at least {to} for counter {key}")).collect();
    match aims.len() {
        0 => String::new(),
        _ => format!("; so that the row is written anew, TO is {}", aims.join(", ")),
    }
}

/// The repair of a cell without a row.
const ROWLESS: &str = "stop every server; put back the ledger's newest backup and `sequent recover`, or `sequent advance NAME TO`, TO above \
    the highest number of it that any caller has: that writes the rows anew. As long as its store holds the cell, its next use does, too";

const NEXT_USE: &str = "nothing repeats: at its next use it begins a new epoch above its ceiling";
const NOTHING: &str = "nothing";

/// The effect of a value far above its ceiling. It matters even with a durable store.
fn unknown(class: DurabilityClass) -> &'static str {
    match class {
        DurabilityClass::Durable => {
            "the ledger does not know of numbers that were given: where the store is put back from a copy, or loses this cell, they come \
             again, unless nobody was given them, as where a server died amid its takes"
        }
        _ => {
            "the ledger does not know of numbers that were given, and the store may forget: they come again then, unless nobody was given \
             them, as where a server died amid its takes"
        }
    }
}

/// The repair of a value far above its ceiling.
const RAISED: &str = "where the row may have been set lower by hand, or the ledger was put back, first of all `sequent advance NAME TO`, TO \
    above the highest number of it that any caller has; then take from the sequence until this is no longer found: whoever takes from \
    this counter raises its ceiling";

/// The repair of a row that was lowered by hand and whose cell is gone.
const LOWERED: &str = "before anything is given, `sequent advance NAME TO`, TO above the highest number of it that any caller has \
    (where more is asked for, that); and find out who wrote to the ledger, and deleted the cell";

/// The repair of a row that is too low by its own history.
const BELOW_PAST: &str = "before anything is given, `sequent advance NAME TO`, TO above the highest number of it that any caller has \
    (where more is asked for, that); and find out who wrote to the ledger and the store";

const LOWERED_PERHAPS: &str = "find out who deleted the cell, and whether the row was set lower by hand; where this slot may have given more \
    than the others, `sequent advance NAME TO`, TO above the highest number of it that any caller has";

const UNBEGUN: &str = "nothing, where this slot never gave numbers of it; otherwise row and cell were deleted: find out by whom, and `sequent \
    advance NAME TO`, TO above the highest number of it that any caller has";

/// The possible causes if a counter's row and cell agree, but are far below the key's other slots.
const LAGGING: &str = "nothing, where this slot was drained, out, or added later, and was not used since; otherwise a hand set its row and \
    its cell lower, and its numbers come again";

const LAGGED: &str = "if nobody drained or added this slot, and it was not out: before anything is given, `sequent advance NAME TO`, TO above \
    the highest number of it that any caller has (where more is asked for, that); and find out who wrote to the ledger and the store";

/// Where a counter begins that is behind the key's other slots.
const FOLLOWED: &str = "at its next use it begins no lower than the key's other slots";

/// The same, if the other slots are too far ahead.
const NOT_FOLLOWED: &str =
    "no epoch follows the key's other slots so far: where this one had come as far, its numbers come again";

fn meaning(kind: Kind, class: DurabilityClass) -> (Severity, &'static str, &'static str) {
    match kind {
        Kind::FarBoth => (
            Severity::Error,
            "neither bears witness for the other: a hand or a broken disk wrote them; servers that find it out put the counter aside; \
             what they have not found out leaves out all below, for good",
            leap_advice(Some(Condition::FarRowAndCell)),
        ),
        Kind::FarRow => (
            Severity::Error,
            "nobody can have taken so much, so a hand or a broken disk wrote it: servers that find it out put the counter aside; an epoch \
             that began above it would leave out all below, for good",
            leap_advice(Some(Condition::FarRow)),
        ),
        Kind::Rowless => (
            Severity::Error,
            "a hand deleted the row, or the ledger was put back from a copy; nothing but its cell tells how far it is",
            ROWLESS,
        ),
        Kind::SetBack => (
            Severity::Error,
            "numbers that were given may come again until the servers hear of it, within two seconds of its use",
            "find out who wrote there, or copied an old file over the store while servers ran; then delete its cell, and it begins \
             again above its ceiling: an older copy that is put back mends nothing",
        ),
        Kind::Leapt => (
            Severity::Error,
            "nothing follows it: this counter gives nothing more, and what lies between would be lost",
            leap_advice(None),
        ),
        Kind::FarCeiling => (
            Severity::Error,
            "no server asked for it, so a hand or a broken disk wrote it: no epoch begins above it, so this counter gives nothing \
             more once its store forgets it; up to it the store alone is believed, and a leap of the value is not noticed",
            leap_advice(Some(Condition::FarCeiling)),
        ),
        Kind::Lowered => (
            Severity::Error,
            "a hand lowered it: the next epoch begins above the ceiling, and numbers that were given above that come again",
            LOWERED,
        ),
        Kind::BelowPast => (
            Severity::Error,
            "no epoch begins below the ceiling of the one before, so a hand set the row lower, or put it back alone: numbers that were \
             given come again",
            BELOW_PAST,
        ),
        Kind::FarBehind | Kind::FarUnbegun => (Severity::Error, NOT_FOLLOWED, LOWERED),
        Kind::StaysAbove => (Severity::Error, unknown(class), RAISED),
        Kind::Overtaken => (
            Severity::Error,
            unknown(class),
            "take from the sequence until this is no longer found, or `sequent advance NAME TO`, TO above the highest number of it that any \
             caller has: either writes the row anew. Where a loss was named, name at least as much as the difference",
        ),
        Kind::Above => (
            Severity::Warning,
            "ids above it left while the ledger was away, or were taken by a server that died; those that left could come \
             again if the store forgets them before a server tells the ledger",
            "let the servers that run reach the ledger; they tell it by themselves",
        ),
        Kind::Behind => (Severity::Warning, FOLLOWED, LOWERED_PERHAPS),
        Kind::Unbegun => (Severity::Warning, FOLLOWED, UNBEGUN),
        Kind::Lagging => (Severity::Warning, LAGGING, LAGGED),
        Kind::OtherEpoch => {
            (Severity::Warning, NEXT_USE, "find out whether the store or the ledger was put back from a copy")
        }
        Kind::Odd => (Severity::Warning, NEXT_USE, "find out who wrote there"),
        Kind::Fleeting => (
            Severity::Warning,
            "it goes when its time is over; nothing repeats, for it begins again above its ceiling, and leaves numbers out",
            "PERSIST the key, and find out who set it; no verb of ours does",
        ),
        Kind::Vanished if class == DurabilityClass::Volatile => {
            (Severity::Info, NEXT_USE, "nothing: a volatile store forgets")
        }
        Kind::Vanished => (
            Severity::Warning,
            NEXT_USE,
            "find out who deleted it, or whether the store was put back from a copy: it should not forget",
        ),
        Kind::Reborn => (Severity::Info, NEXT_USE, NOTHING),
        Kind::Closed => (
            Severity::Info,
            "a server is at work on it, or died at it; at its next use it is opened again",
            NOTHING,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_has_no_runs_of_blanks() {
        for kind in Kind::ALL {
            let (_, causes, mend) = meaning(kind, DurabilityClass::Durable);
            for text in [causes, mend, unknown(DurabilityClass::Lossy)] {
                assert!(!text.contains("  ") && !text.is_empty(), "{kind:?}: {text}");
            }
        }
    }
}
