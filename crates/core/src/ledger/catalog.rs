//! Definitions of sequences, versioned and immutable; and what the ledger notes beside them.

use super::{LedgerNote, NoteSubject};
use crate::{BoxFuture, ErrorKind, SequenceName, SourceError};

/// A version of a sequence's definition, as canonical text: what it says is the engine's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The sequence.
    pub name: SequenceName,
    /// From 1; a higher one replaces a lower one.
    pub version: u32,
    /// The content, in one canonical form, so that equal definitions have equal text.
    pub body: String,
}

/// What became of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Defined {
    /// It is the one in force now.
    Created,
    /// The ledger held the same already.
    Same,
    /// Ignored: a higher version is in force.
    Older {
        /// The version in force.
        held: Definition,
    },
    /// Refused: the same version with another content.
    Conflict {
        /// What the ledger holds.
        held: Definition,
    },
    /// Nothing was written: another definition is in force than the one that the caller has judged.
    Moved {
        /// What the ledger holds.
        held: Option<Definition>,
    },
}

/// The definitions in force, and the ledger's notes.
pub trait Catalog: Send + Sync {
    /// The catalog's version, and the highest version of each definition, ascending by name.
    fn definitions(&self) -> BoxFuture<'_, Result<(u64, Vec<Definition>), SourceError>>;

    /// Adds a definition, or says why not.
    ///
    /// `judged` is the version in force that the caller compared it with, `None` where it found none. What would
    /// replace another version is not written: whether it may follow that one, nobody has asked.
    fn define<'a>(
        &'a self,
        definition: &'a Definition,
        judged: Option<u32>,
    ) -> BoxFuture<'a, Result<Defined, SourceError>>;

    /// Every note, ascending by its subject.
    fn notes(&self) -> BoxFuture<'_, Result<Vec<LedgerNote>, SourceError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// What is held about a subject; 0 where nothing was noted.
    fn noted<'a>(&'a self, about: &'a NoteSubject) -> BoxFuture<'a, Result<u64, SourceError>> {
        let _ = about;
        Box::pin(std::future::ready(Err(no_notes())))
    }

    /// Notes a number, greatest-of; returns what is held afterwards. The catalog's version goes up by one where that moved it, so
    /// that every server hears of it.
    fn note<'a>(&'a self, note: &'a LedgerNote) -> BoxFuture<'a, Result<u64, SourceError>> {
        let _ = note;
        Box::pin(std::future::ready(Err(no_notes())))
    }
}

fn no_notes() -> SourceError {
    SourceError::new(ErrorKind::Refused, "this ledger can't note how far a key is advanced")
}
