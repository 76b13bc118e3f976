//! Cause of a slot's failure in a form safe for callers, and a short summary line over many slots.

use crate::{ErrorKind, SlotIndex, SourceError, word_enum};

word_enum! {
    /// Cause that callers are shown, as the text for every API. It contains no address, user or statement.
    ///
    /// The component that meets a failure sets it: for example, a driver whose login was refused. The layers above pass it on and
    /// decide nothing by it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Why {
        /// Nothing listens at the address.
        ConnectionRefused = "connection refused",
        /// The connection broke.
        ConnectionLost = "connection lost",
        /// The host has no address or cannot be reached.
        HostUnreachable = "host unreachable",
        /// The server refused the login.
        LoginRefused = "login refused",
        /// No connection, or no answer, within the time limit.
        TimedOut = "timed out",
        /// The store's disk is full.
        DiskFull = "disk full",
        /// The store refuses writes.
        ReadOnly = "takes no writes",
        /// The counter holds a value that no statement of ours wrote.
        SetByHand = "set by hand",
        /// The store lost one of the two places that hold the counter.
        LostInPart = "lost in part",
        /// An operator evicted the slot.
        EvictedByHand = "evicted by an operator",
        /// An operator is draining the slot, and requests sent before are still pending.
        Draining = "draining",
        /// An operator drained the slot, and nothing is pending.
        Drained = "drained",
    }
}

impl Why {
    /// Whether a slot command is the cause, and not the store.
    pub const fn is_by_word(self) -> bool {
        matches!(self, Self::EvictedByHand | Self::Draining | Self::Drained)
    }
}

/// Failure of one slot. Slot and cause are for callers; the detail is for log and status.
#[derive(Debug, Clone)]
pub struct SlotFailure {
    /// The slot.
    pub slot: SlotIndex,
    /// The class of the cause.
    pub kind: ErrorKind,
    /// The specific cause, if it is known.
    pub why: Option<Why>,
    /// What was found, for people. It may contain addresses, so no number API shows it.
    pub detail: String,
}

impl SlotFailure {
    /// The failure of `slot` that `error` describes.
    pub fn of(slot: SlotIndex, error: &SourceError) -> Self {
        Self { slot, kind: error.kind(), why: error.why(), detail: error.to_string() }
    }

    /// The cause as text for callers: the specific cause, or else its class.
    pub const fn cause(&self) -> &'static str {
        match (self.why, self.kind) {
            (Some(why), _) => why.as_str(),
            (None, ErrorKind::Timeout) => Why::TimedOut.as_str(),
            (None, kind) => kind.as_str(),
        }
    }
}

/// The most causes that one line names. The slots of further causes are only counted.
const CAUSES_MAX: usize = 8;

/// The most ranges of slots named for one cause. Further slots are only counted.
const RUNS_MAX: usize = 16;

/// One line about failures that are sorted by slot: each cause once, with its slots.
///
/// ```
/// use sequent_core::{ErrorKind, SlotFailure, SourceError, Why, line_of};
/// let gone = SourceError::new(ErrorKind::Unavailable, "take").told(Why::ConnectionRefused);
/// let slots = [0, 1, 3].map(|slot| SlotFailure::of(slot, &gone));
/// assert_eq!(line_of(&slots, |slot| slot.cause(), |slots, cause| format!("{slots} {cause}"), ", "),
///            "slots 0-1, 3 connection refused");
/// ```
pub fn line_of<'a, C: PartialEq>(
    failures: &'a [SlotFailure],
    cause: impl Fn(&'a SlotFailure) -> C,
    shown: impl Fn(String, C) -> String,
    between: &str,
) -> String {
    let mut groups: Vec<(Vec<SlotIndex>, C)> = Vec::new();
    for failure in failures {
        let of = cause(failure);
        match groups.iter_mut().find(|(_, held)| *held == of) {
            Some((slots, _)) => slots.push(failure.slot),
            None => groups.push((vec![failure.slot], of)),
        }
    }
    let left = groups.iter().skip(CAUSES_MAX).map(|(slots, _)| slots.len()).sum();
    let mut parts: Vec<String> =
        groups.into_iter().take(CAUSES_MAX).map(|(slots, cause)| shown(ranges(&slots), cause)).collect();
    parts.extend(more(left));
    parts.join(between)
}

/// `slot 3`, or `slots 0-2, 5`, for ascending slots.
fn ranges(slots: &[SlotIndex]) -> String {
    let runs: Vec<&[SlotIndex]> = slots.chunk_by(|a, b| a.checked_add(1) == Some(*b)).collect();
    let left = runs.iter().skip(RUNS_MAX).map(|run| run.len()).sum();
    let shown = runs.iter().take(RUNS_MAX).filter_map(|run| Some((run.first()?, run.last()?)));
    let mut shown: Vec<String> =
        shown.map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    shown.extend(more(left));
    format!("{} {}", if slots.len() == 1 { "slot" } else { "slots" }, shown.join(", "))
}

fn more(slots: usize) -> Option<String> {
    (slots > 0).then(|| format!("and {slots} more"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(slot: SlotIndex, kind: ErrorKind, why: Option<Why>) -> SlotFailure {
        SlotFailure { slot, kind, why, detail: format!("10.0.0.1 is away, {slot}") }
    }

    fn line(slots: &[SlotFailure]) -> String {
        line_of(slots, SlotFailure::cause, |slots, cause| format!("{slots} {cause}"), ", ")
    }

    #[test]
    fn the_cause_itself_goes_before_its_class() {
        let (gone, slow) = (ErrorKind::Unavailable, ErrorKind::Timeout);
        let slots = [
            failure(0, gone, Some(Why::ConnectionRefused)),
            failure(1, gone, Some(Why::EvictedByHand)),
            failure(2, gone, Some(Why::LoginRefused)),
            failure(3, slow, None),
            failure(4, gone, None),
            failure(5, gone, Some(Why::ConnectionRefused)),
        ];
        assert_eq!(
            line(&slots),
            "slots 0, 5 connection refused, slot 1 evicted by an operator, slot 2 login refused, slot 3 timed out, \
             slot 4 unavailable"
        );
    }

    #[test]
    fn a_line_about_many_slots_stays_short() {
        let every_other: Vec<SlotFailure> =
            (0..512).map(|slot| failure(slot * 2, ErrorKind::Unavailable, None)).collect();
        let said = line(&every_other);
        assert!(said.ends_with("28, 30, and 496 more unavailable"), "{said}");
        let own = |failure: &SlotFailure| failure.detail.clone();
        let said = line_of(&every_other, own, |slots, cause| format!("{slots}: {cause}"), "; ");
        assert!(said.ends_with("slot 14: 10.0.0.1 is away, 14; and 504 more"), "{said}");
    }
}
