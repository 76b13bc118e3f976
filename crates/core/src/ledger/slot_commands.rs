//! Slot commands of operators: evict, rescue, drain. Every server carries one out within two seconds; only an operator revokes it.

use crate::{Reply, SlotIndex, word_enum};

word_enum! {
    /// Kind of slot command.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SlotVerb {
        /// Removes the slot from the rotation until another command.
        Evict = "evict",
        /// Ends an eviction or quarantine with an immediate probe.
        Rescue = "rescue",
        /// Sends the slot no more requests, and removes it once all pending ones are answered.
        Drain = "drain",
    }
}

/// Slot command of an operator. The latest one of a slot counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotCommand {
    /// The slot.
    pub slot: SlotIndex,
    /// The kind of command.
    pub verb: SlotVerb,
    /// Who gave it.
    pub who: String,
    /// The reason given.
    pub why: String,
    /// When it was given, by the ledger's clock, in milliseconds since 1970. Set by the ledger.
    pub at_ms: u64,
    /// When it expires, in milliseconds since 1970; `None` if it holds until another command.
    pub until_ms: Option<u64>,
}

/// Slot commands in the ledger.
pub trait SlotCommands: Send + Sync {
    /// The latest command of each slot, ascending by slot, without expired ones.
    fn slot_commands(&self) -> Reply<'_, Vec<SlotCommand>>;

    /// Replaces the slot's command, and returns it as written.
    fn say<'a>(&'a self, word: &'a SlotCommand) -> Reply<'a, SlotCommand>;
}
