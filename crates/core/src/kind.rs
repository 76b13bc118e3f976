//! Kinds of failure below the ring, and the verdict of each: who must react, and how.

use std::fmt;

/// Kind of failure. Callers match on this; the text beside it is for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// No answer in time. The outcome is unknown; the numbers are burnt.
    Timeout,
    /// The store cannot be reached, or the connection broke.
    Unavailable,
    /// Bounded retries against concurrent writers were used up.
    Contended,
    /// Login, schema, settings or stamp are wrong: an operator must correct them.
    Refused,
    /// The counter or the sequence is at its end.
    Exhausted,
    /// The counter went backwards, vanished, or has another epoch.
    Regressed,
    /// The store has another instance than the grant names; nothing was touched.
    InstanceChanged,
    /// The counter is far beyond its ceiling.
    Jumped,
    /// What would hold the counter can't be used, such as a table of another shape: an operator must correct it. The store's
    /// other counters are not concerned.
    Unfit,
    /// The ledger is needed but unavailable.
    NoWitness,
    /// The ledger is older than its marks, or everything moved at once. An operator must name the loss.
    LedgerBehind,
    /// No slot could serve; each is listed with its cause.
    NoShard,
}

impl ErrorKind {
    /// Every kind, in the order of the documentation's table.
    pub const ALL: [Self; 12] = [
        Self::Timeout,
        Self::Unavailable,
        Self::Contended,
        Self::Refused,
        Self::Exhausted,
        Self::Regressed,
        Self::InstanceChanged,
        Self::Jumped,
        Self::Unfit,
        Self::NoWitness,
        Self::LedgerBehind,
        Self::NoShard,
    ];

    /// The name for logs, metrics and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Unavailable => "unavailable",
            Self::Contended => "contended",
            Self::Refused => "refused",
            Self::Exhausted => "exhausted",
            Self::Regressed => "regressed",
            Self::InstanceChanged => "instance-changed",
            Self::Jumped => "jumped",
            Self::Unfit => "unfit",
            Self::NoWitness => "no-witness",
            Self::LedgerBehind => "ledger-behind",
            Self::NoShard => "no-shard",
        }
    }

    /// Who must react, and how. The ring decides by this alone.
    pub const fn verdict(self) -> Verdict {
        let (scope, action) = match self {
            Self::Timeout | Self::Contended => (Scope::Slot, Action::CountSlow),
            Self::Unavailable => (Scope::Slot, Action::Evict),
            Self::Refused => (Scope::Slot, Action::Quarantine),
            Self::Exhausted => (Scope::Counter, Action::Retire),
            Self::Regressed | Self::Jumped | Self::Unfit => (Scope::Counter, Action::Quarantine),
            Self::InstanceChanged => (Scope::Counter, Action::Retry),
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

/// Part that a failure concerns. Only [`Scope::Slot`] affects a slot's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The store in the slot, for every key.
    Slot,
    /// One key's counter in the slot.
    Counter,
    /// Neither slot nor counter: the ledger, or the whole ring.
    Nobody,
}

/// Reaction to a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Count it in the window of slow events.
    CountSlow,
    /// Remove the slot from the rotation. A timed rescue brings it back.
    Evict,
    /// Remove it until its guard or an operator has cleared it.
    Quarantine,
    /// Never ask this slot for this key again.
    Retire,
    /// Ask again later; nothing is at fault.
    Retry,
    /// Return it to the caller.
    Report,
}

/// Scope and action of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// The part concerned.
    pub scope: Scope,
    /// The reaction.
    pub action: Action,
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
}
