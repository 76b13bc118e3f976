//! Catalog: versioned, immutable definitions of sequences, and the ledger's notes.

use super::{LedgerNote, NoteSubject};
use crate::{BoxFuture, ErrorKind, SequenceName, SourceError};

/// One version of a sequence's definition as canonical text. The engine gives the text its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The sequence.
    pub name: SequenceName,
    /// From 1; a higher one replaces a lower one.
    pub version: u32,
    /// The content in canonical form: equal definitions have equal text.
    pub body: String,
}

/// Result of [`Catalog::define`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Defined {
    /// It was written and is now in force.
    Created,
    /// The ledger already held the same definition.
    Same,
    /// Ignored: a higher version is in force.
    Older {
        /// The version in force.
        held: Definition,
    },
    /// Refused: the ledger holds the same version with other content.
    Conflict {
        /// The definition that the ledger holds.
        held: Definition,
    },
    /// Nothing was written: the definition in force is not the one that the caller compared with.
    Moved {
        /// The definition that the ledger holds.
        held: Option<Definition>,
    },
}

/// Definitions in force, and the ledger's notes.
pub trait Catalog: Send + Sync {
    /// The catalog's version, and the highest version of each definition, ascending by name.
    fn definitions(&self) -> BoxFuture<'_, Result<(u64, Vec<Definition>), SourceError>>;

    /// The highest version of one definition. It costs no more than that, however many there are.
    fn definition<'a>(
        &'a self,
        name: &'a SequenceName,
    ) -> BoxFuture<'a, Result<Option<Definition>, SourceError>>;

    /// Adds a definition, or returns why it was not added.
    ///
    /// `judged` is the version in force that the caller compared with, or `None` if it found none. If another version is in
    /// force by now, nothing is written, since nobody has checked whether the new one may follow it.
    fn define<'a>(
        &'a self,
        definition: &'a Definition,
        judged: Option<u32>,
    ) -> BoxFuture<'a, Result<Defined, SourceError>>;

    /// All notes, ascending by subject.
    fn notes(&self) -> BoxFuture<'_, Result<Vec<LedgerNote>, SourceError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The number noted about a subject; 0 if there is none.
    fn noted<'a>(&'a self, about: &'a NoteSubject) -> BoxFuture<'a, Result<u64, SourceError>> {
        let _ = about;
        Box::pin(std::future::ready(Err(no_notes())))
    }

    /// Writes a note and returns the number held afterwards: the greater of old and new. If it rises, the catalog's version
    /// goes up by one, so that every server reads the note.
    fn note<'a>(&'a self, note: &'a LedgerNote) -> BoxFuture<'a, Result<u64, SourceError>> {
        let _ = note;
        Box::pin(std::future::ready(Err(no_notes())))
    }

    /// The same for several notes, in one call where the ledger can. Callers bound how many they are.
    fn note_all<'a>(&'a self, notes: &'a [LedgerNote]) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            for note in notes {
                self.note(note).await?;
            }
            Ok(())
        })
    }
}

fn no_notes() -> SourceError {
    SourceError::new(ErrorKind::Refused, "this ledger can't note how far a key is advanced")
}
