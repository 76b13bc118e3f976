//! What can go wrong below the ring, and who must react: a kind, one verdict each, a context and a source.

use std::{error::Error, fmt, sync::Arc};

use crate::{BlockError, SlotFailure, Why, line_of};

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
    why: Option<Why>,
    source: Option<Arc<dyn Error + Send + Sync>>,
    slots: Vec<SlotFailure>,
}

impl SourceError {
    /// A failure of `kind` while doing `context` (lower case, no full stop).
    pub fn new(kind: ErrorKind, context: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, context: context.into(), why: None, source: None, slots: Vec::new() }))
    }

    /// A counter at the end of its range.
    pub fn exhausted(error: BlockError) -> Self {
        Self::new(ErrorKind::Exhausted, "counter is at the end of its range").because(error)
    }

    /// No slot could serve: each with its cause, in the order of slots.
    pub fn no_shard(mut slots: Vec<SlotFailure>) -> Self {
        slots.sort_by_key(|failure| failure.slot);
        let causes = line_of(&slots, SlotFailure::cause, |slots, cause| format!("{slots} {cause}"), ", ");
        let context = if slots.is_empty() { "the ring is empty".to_owned() } else { causes };
        Self(Arc::new(Inner { kind: ErrorKind::NoShard, context, why: None, source: None, slots }))
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

    /// The same failure with the cause that callers are told.
    #[must_use]
    pub fn told(self, why: impl Into<Option<Why>>) -> Self {
        let inner = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Inner { why: why.into(), ..inner }))
    }

    /// What callers match on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was being done.
    pub fn context(&self) -> &str {
        &self.0.context
    }

    /// The cause that callers are told, where whoever met it could tell.
    pub fn why(&self) -> Option<Why> {
        let below = || self.0.source.as_ref()?.downcast_ref::<Self>()?.why();
        self.0.why.or_else(below)
    }

    /// Each slot with its cause, for [`ErrorKind::NoShard`]; otherwise empty.
    pub fn slots(&self) -> &[SlotFailure] {
        &self.0.slots
    }
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
        let failure =
            |slot, kind| SlotFailure::of(slot, &SourceError::new(kind, "take").because("10.0.0.1 refused"));
        let error =
            SourceError::no_shard(vec![failure(2, ErrorKind::Timeout), failure(0, ErrorKind::Unavailable)]);
        assert_eq!(error.to_string(), "no-shard: slot 0 unavailable, slot 2 timed out");
    }

    #[test]
    fn equal_causes_are_named_once() {
        let failure = |slot, kind| SlotFailure::of(slot, &SourceError::new(kind, "take"));
        let (gone, slow) = (ErrorKind::Unavailable, ErrorKind::Timeout);
        let error = SourceError::no_shard(vec![
            failure(5, gone),
            failure(0, gone),
            failure(3, slow),
            failure(2, gone),
            failure(1, gone),
        ]);
        assert_eq!(error.context(), "slots 0-2, 5 unavailable, slot 3 timed out");
    }
    #[test]
    fn a_cause_that_was_told_is_not_lost_on_the_way_up() {
        let met = SourceError::new(ErrorKind::Unavailable, "connect").told(Why::LoginRefused);
        let passed_on = met.clone().during("open").because("the password is wrong");
        let wrapped = SourceError::new(ErrorKind::Unavailable, "take").because(met);
        assert_eq!((passed_on.why(), wrapped.why()), (Some(Why::LoginRefused), Some(Why::LoginRefused)));
        assert_eq!(
            SourceError::no_shard(vec![SlotFailure::of(1, &wrapped)]).context(),
            "slot 1 login refused"
        );
    }
}
