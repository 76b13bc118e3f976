//! What can go wrong below the ring, and who must react: a kind, one verdict each, a context and a source.

use std::{error::Error, fmt, sync::Arc};

use crate::{BlockError, SlotIndex};

/// What went wrong. Callers match on this; the text beside it is for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// No answer in time: the outcome is unknown, and its numbers are burnt.
    Timeout,
    /// The store can't be reached, or broke off.
    Unavailable,
    /// Bounded retries against concurrent writers were used up.
    Contended,
    /// Login, schema, settings or stamp: a person has to mend it.
    Refused,
    /// The counter, or the sequence, is at its end.
    Exhausted,
    /// The counter went backwards, vanished, or belongs to another life.
    Regressed,
    /// The store is another incarnation than the permit names; nothing was touched.
    Reborn,
    /// The counter is far beyond its ceiling.
    Leapt,
    /// The ledger is needed, and away.
    NoWitness,
    /// The ledger is older than its marks, or everything moved at once: an operator must name the loss.
    LedgerBehind,
    /// No slot could serve; each is listed with its cause.
    NoShard,
}

impl ErrorKind {
    /// Every kind, in the order of the design's table.
    pub const ALL: [Self; 11] = [
        Self::Timeout,
        Self::Unavailable,
        Self::Contended,
        Self::Refused,
        Self::Exhausted,
        Self::Regressed,
        Self::Reborn,
        Self::Leapt,
        Self::NoWitness,
        Self::LedgerBehind,
        Self::NoShard,
    ];

    /// The word for logs, metrics and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Unavailable => "unavailable",
            Self::Contended => "contended",
            Self::Refused => "refused",
            Self::Exhausted => "exhausted",
            Self::Regressed => "regressed",
            Self::Reborn => "reborn",
            Self::Leapt => "leapt",
            Self::NoWitness => "no-witness",
            Self::LedgerBehind => "ledger-behind",
            Self::NoShard => "no-shard",
        }
    }

    /// Who must react, and how. The ring reads this and nothing else.
    pub const fn verdict(self) -> Verdict {
        let (scope, action) = match self {
            Self::Timeout | Self::Contended => (Scope::Slot, Action::CountSlow),
            Self::Unavailable => (Scope::Slot, Action::Evict),
            Self::Refused => (Scope::Slot, Action::Quarantine),
            Self::Exhausted => (Scope::Counter, Action::Retire),
            Self::Regressed | Self::Leapt => (Scope::Counter, Action::Quarantine),
            Self::Reborn => (Scope::Counter, Action::Retry),
            Self::NoWitness | Self::LedgerBehind | Self::NoShard => (Scope::Nobody, Action::Report),
        };
        Verdict { scope, action }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whom a failure concerns. Only [`Scope::Slot`] touches a slot's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The store in the slot, for every key.
    Slot,
    /// One key's counter in the slot.
    Counter,
    /// Neither: the ledger, or the whole ring.
    Nobody,
}

/// What is to be done by whoever it concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Count it in the window of slow events.
    CountSlow,
    /// Take it out of the rotation; timed rescue brings it back.
    Evict,
    /// Take it out until its guard, or a person, has cleared it.
    Quarantine,
    /// Never ask this slot for this key again.
    Retire,
    /// Ask again later; nobody is at fault.
    Retry,
    /// Pass it on to the caller.
    Report,
}

/// Scope and action of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// Whom it concerns.
    pub scope: Scope,
    /// What is to be done.
    pub action: Action,
}

/// Why one slot could not serve: its number and cause class are for callers, the text for log and status.
#[derive(Debug, Clone)]
pub struct SlotFailure {
    /// The slot.
    pub slot: SlotIndex,
    /// The class of the cause.
    pub kind: ErrorKind,
    /// What was found, for people; may name addresses, so no data door shows it.
    pub detail: String,
}

/// A failure to yield numbers: a kind, what was being done, and what lay beneath. Cheap to clone.
///
/// ```
/// use sequent_core::{ErrorKind, Scope, SourceError};
/// let error = SourceError::new(ErrorKind::Unavailable, "connect to shard").because("connection refused");
/// assert_eq!(error.to_string(), "unavailable: connect to shard: connection refused");
/// assert_eq!(error.kind().verdict().scope, Scope::Slot);
/// ```
#[derive(Clone)]
pub struct SourceError(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    context: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
    slots: Vec<SlotFailure>,
}

impl SourceError {
    /// A failure of `kind` while doing `context` (lower case, no full stop).
    pub fn new(kind: ErrorKind, context: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, context: context.into(), source: None, slots: Vec::new() }))
    }

    /// A counter at the end of its range.
    pub fn exhausted(error: BlockError) -> Self {
        Self::new(ErrorKind::Exhausted, "counter is at the end of its range").because(error)
    }

    /// No slot could serve: each with its cause, in the order of slots.
    pub fn no_shard(mut slots: Vec<SlotFailure>) -> Self {
        slots.sort_by_key(|failure| failure.slot);
        let causes: Vec<String> = merged(&slots, |failure| failure.kind)
            .into_iter()
            .map(|(slots, kind)| format!("{slots} {kind}"))
            .collect();
        let context = if causes.is_empty() { "the ring is empty".to_owned() } else { causes.join(", ") };
        Self(Arc::new(Inner { kind: ErrorKind::NoShard, context, source: None, slots }))
    }

    /// The same failure with what lay beneath it.
    #[must_use]
    pub fn because(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let inner = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Inner { source: Some(Arc::from(source.into())), ..inner }))
    }

    /// The same failure, said to have happened while doing `outer`.
    #[must_use]
    pub fn during(self, outer: impl fmt::Display) -> Self {
        let inner = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Inner { context: format!("{outer}: {}", inner.context), ..inner }))
    }

    /// What callers match on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was being done.
    pub fn context(&self) -> &str {
        &self.0.context
    }

    /// Each slot with its cause, for [`ErrorKind::NoShard`]; otherwise empty.
    pub fn slots(&self) -> &[SlotFailure] {
        &self.0.slots
    }
}

/// Equal causes with their slots, in the order of the first slot of each: `slots 0-2, 5` and what they have in common.
pub fn merged<'a, C: PartialEq>(
    failures: &'a [SlotFailure],
    cause: impl Fn(&'a SlotFailure) -> C,
) -> Vec<(String, C)> {
    let mut groups: Vec<(Vec<SlotIndex>, C)> = Vec::new();
    for failure in failures {
        let of = cause(failure);
        match groups.iter_mut().find(|(_, held)| *held == of) {
            Some((slots, _)) => slots.push(failure.slot),
            None => groups.push((vec![failure.slot], of)),
        }
    }
    groups.into_iter().map(|(slots, cause)| (ranges(&slots), cause)).collect()
}

/// `slot 3`, or `slots 0-2, 5` of ascending slots.
fn ranges(slots: &[SlotIndex]) -> String {
    let runs = slots.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let runs = runs.filter_map(|run| Some((run.first()?, run.last()?)));
    let runs: Vec<String> =
        runs.map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    format!("{} {}", if slots.len() == 1 { "slot" } else { "slots" }, runs.join(", "))
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind, self.0.context)?;
        match &self.0.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_faults_of_the_store_touch_its_health() {
        let slot_kinds: Vec<ErrorKind> =
            ErrorKind::ALL.into_iter().filter(|kind| kind.verdict().scope == Scope::Slot).collect();
        let expected = [ErrorKind::Timeout, ErrorKind::Unavailable, ErrorKind::Contended, ErrorKind::Refused];
        assert_eq!(slot_kinds, expected);
    }

    #[test]
    fn no_shard_lists_slots_in_order_and_hides_details() {
        let failure = |slot, kind| SlotFailure { slot, kind, detail: "10.0.0.1 refused".into() };
        let error =
            SourceError::no_shard(vec![failure(2, ErrorKind::Timeout), failure(0, ErrorKind::Unavailable)]);
        assert_eq!(error.to_string(), "no-shard: slot 0 unavailable, slot 2 timeout");
    }

    #[test]
    fn equal_causes_are_named_once() {
        let failure = |slot, kind| SlotFailure { slot, kind, detail: String::new() };
        let (gone, slow) = (ErrorKind::Unavailable, ErrorKind::Timeout);
        let error = SourceError::no_shard(vec![
            failure(5, gone),
            failure(0, gone),
            failure(3, slow),
            failure(2, gone),
            failure(1, gone),
        ]);
        assert_eq!(error.context(), "slots 0-2, 5 unavailable, slot 3 timeout");
    }
}
