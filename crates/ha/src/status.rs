//! What an operator sees of a slot.

use std::time::Instant;

use sequent_core::{ErrorKind, SlotIndex, Why, ledger::Word};

/// Where a slot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotState {
    /// In the rotation.
    Live,
    /// Out of the rotation: a fault, slowness, or an operator's word.
    Evicted,
    /// About to come back: the next real take decides.
    Probation,
    /// Out until its guard, or a person, has cleared it.
    Quarantined,
    /// On an operator's word asked no more; what it was asked before is awaited.
    Draining,
    /// Drained: nothing that it gave is still on its way. Its store can be taken away.
    Drained,
    /// No store is configured here.
    Empty,
}

impl SlotState {
    /// The word for status, metrics and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Evicted => "evicted",
            Self::Probation => "probation",
            Self::Quarantined => "quarantined",
            Self::Draining => "draining",
            Self::Drained => "drained",
            Self::Empty => "empty",
        }
    }
}

/// What has happened in a slot since this process started. Clean successes are not counted: counting them would
/// have every take of every key write to one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SlotCounts {
    /// Verbs that were answered, but slowly.
    pub slow: u64,
    /// Verbs without an answer in time.
    pub timeouts: u64,
    /// Verbs that could not reach the store.
    pub unavailable: u64,
    /// Verbs that gave up against concurrent writers.
    pub contended: u64,
    /// Verbs that were refused.
    pub refused: u64,
    /// How often the slot left the rotation.
    pub evictions: u64,
    /// How often it came back.
    pub rescues: u64,
}

/// A slot as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotStatus {
    /// The slot.
    pub slot: SlotIndex,
    /// Where it stands.
    pub state: SlotState,
    /// Class and text of the cause, unless it is live or empty.
    pub cause: Option<(ErrorKind, String)>,
    /// The same cause in words, where whoever met it could tell.
    pub why: Option<Why>,
    /// Since when it has stood there, by the ring's clock. `None` for an empty slot.
    pub since: Option<Instant>,
    /// Since when it has been out, by the ring's clock: through all tries that failed. `None` where it is live or empty.
    pub out_since: Option<Instant>,
    /// When it will be tried next, by the ring's clock; `None` where only a person can bring it back, or nothing is due.
    pub retry_at: Option<Instant>,
    /// The operator's word that is being obeyed.
    pub word: Option<Word>,
    /// What has happened here.
    pub counts: SlotCounts,
}
