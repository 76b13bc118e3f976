//! Status of a slot, for operators.

use std::time::Instant;

use sequent_core::{ErrorKind, SlotIndex, Why, ledger::SlotCommand, word_enum};

word_enum! {
    /// The state of a slot.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SlotState {
        /// In the rotation.
        Live = "live",
        /// Out of the rotation: an error, slowness, or an operator's command.
        Evicted = "evicted",
        /// About to come back: the next real take decides.
        Probation = "probation",
        /// Out until its guard, or a person, has cleared it.
        Quarantined = "quarantined",
        /// Asked no more by an operator's command; requests in flight are awaited.
        Draining = "draining",
        /// Drained: no request is in flight. Its store can be removed.
        Drained = "drained",
        /// No store is configured here.
        Empty = "empty",
    }
}

/// Counts of a slot since this process started.
///
/// Normal successes are not counted: every take of every key would write to one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SlotCounts {
    /// Operations that were answered, but slowly.
    pub slow: u64,
    /// Operations without an answer in time.
    pub timeouts: u64,
    /// Operations that could not reach the store.
    pub unavailable: u64,
    /// Operations that gave up against concurrent writers.
    pub contended: u64,
    /// Operations that were refused.
    pub refused: u64,
    /// How often the slot left the rotation.
    pub evictions: u64,
    /// How often it came back.
    pub rescues: u64,
}

/// The status of one slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotStatus {
    /// The slot.
    pub slot: SlotIndex,
    /// Its state.
    pub state: SlotState,
    /// Kind and text of the cause, unless it is live or empty.
    pub cause: Option<(ErrorKind, String)>,
    /// The public form of the cause, if known.
    pub why: Option<Why>,
    /// When it entered the state, by the ring's clock. `None` for an empty slot.
    pub since: Option<Instant>,
    /// When it left the rotation, by the ring's clock; failed probes do not change it. `None` if it is live or empty.
    pub out_since: Option<Instant>,
    /// When it will be tried next, by the ring's clock. `None` if only a person can bring it back, or nothing is due.
    pub retry_at: Option<Instant>,
    /// The operator's command in force.
    pub command: Option<SlotCommand>,
    /// Counts of this slot.
    pub counts: SlotCounts,
}
