//! What operators said: obeyed by every server within two seconds, undone by nobody but them.

use crate::{BoxFuture, SlotIndex, SourceError};

/// What shall be done with a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordVerb {
    /// Out of the rotation, until said otherwise.
    Evict,
    /// Back: ends an eviction or a quarantine, by a probe at once.
    Rescue,
    /// Asked no more, and out once all that it was asked for has come.
    Drain,
}

impl WordVerb {
    /// The word for ledgers, logs and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Evict => "evict",
            Self::Rescue => "rescue",
            Self::Drain => "drain",
        }
    }

    /// The verb of this word, if there is one.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Evict, Self::Rescue, Self::Drain].into_iter().find(|verb| verb.as_str() == word)
    }
}

/// An operator's word about a slot; the latest one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The slot.
    pub slot: SlotIndex,
    /// What shall be done.
    pub verb: WordVerb,
    /// Who said it.
    pub who: String,
    /// Why.
    pub why: String,
    /// When, by the ledger's clock, in milliseconds since 1970. Set by the ledger.
    pub at_ms: u64,
    /// Until when it counts, in milliseconds since 1970; `None`: until another word.
    pub until_ms: Option<u64>,
}

/// The operators' words.
pub trait Words: Send + Sync {
    /// The latest word about each slot, ascending by slot, expired ones left out.
    fn words(&self) -> BoxFuture<'_, Result<Vec<Word>, SourceError>>;

    /// Replaces the word about a slot; returns it as written.
    fn say<'a>(&'a self, word: &'a Word) -> BoxFuture<'a, Result<Word, SourceError>>;
}
