//! Kinds of failure below the ring, and the verdict of each: who must react, and how.

use crate::word_enum;

word_enum! {
    /// Kind of failure. Callers match on this; the text beside it is for people.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ErrorKind {
        /// No answer in time. The outcome is unknown; the numbers are burnt.
        Timeout = "timeout",
        /// The store cannot be reached, or the connection broke.
        Unavailable = "unavailable",
        /// Bounded retries against concurrent writers were used up.
        Contended = "contended",
        /// Login, schema, settings or stamp are wrong: an operator must correct them.
        Refused = "refused",
        /// The counter or the sequence is at its end.
        Exhausted = "exhausted",
        /// The counter went backwards, vanished, or has another epoch.
        Regressed = "regressed",
        /// The store has another instance than the grant names; nothing was touched.
        InstanceChanged = "instance-changed",
        /// The counter is far beyond its ceiling.
        Jumped = "jumped",
        /// What would hold the counter can't be used, such as a table of another shape: an operator must correct it. The store's
        /// other counters are not concerned.
        Unfit = "unfit",
        /// The ledger is needed but unavailable.
        NoWitness = "no-witness",
        /// The ledger is older than its marks, or everything moved at once. An operator must name the loss.
        LedgerBehind = "ledger-behind",
        /// No slot could serve; each is listed with its cause.
        NoShard = "no-shard",
    }
}

impl ErrorKind {
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
