//! Slot commands of operators: evict, rescue, drain. Every server carries one out within two seconds; only an operator revokes it.

use crate::{BoxFuture, SlotIndex, SourceError};

/// Kind of slot command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotVerb {
    /// Removes the slot from the rotation until another command.
    Evict,
    /// Ends an eviction or quarantine with an immediate probe.
    Rescue,
    /// Sends the slot no more requests, and removes it once all pending ones are answered.
    Drain,
}

impl SlotVerb {
    /// The name in ledgers, logs and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Evict => "evict",
            Self::Rescue => "rescue",
            Self::Drain => "drain",
        }
    }

    /// The kind with this name, if there is one.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Evict, Self::Rescue, Self::Drain].into_iter().find(|verb| verb.as_str() == word)
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
    fn slot_commands(&self) -> BoxFuture<'_, Result<Vec<SlotCommand>, SourceError>>;

    /// Replaces the slot's command, and returns it as written.
    fn say<'a>(&'a self, word: &'a SlotCommand) -> BoxFuture<'a, Result<SlotCommand, SourceError>>;
}
