//! Catalog: versioned, immutable definitions of sequences, and the ledger's notes.

use super::{LedgerNote, NoteSubject};
use crate::{Reply, SequenceName};

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
    fn definitions(&self) -> Reply<'_, (u64, Vec<Definition>)>;

    /// The highest version of one definition. It costs no more than that, however many there are.
    fn definition<'a>(&'a self, name: &'a SequenceName) -> Reply<'a, Option<Definition>>;

    /// Adds a definition, or returns why it was not added.
    ///
    /// `judged` is the version in force that the caller compared with, or `None` if it found none. If another version is in
    /// force by now, nothing is written, since nobody has checked whether the new one may follow it.
    fn define<'a>(&'a self, definition: &'a Definition, judged: Option<u32>) -> Reply<'a, Defined>;

    /// All notes, ascending by subject.
    fn notes(&self) -> Reply<'_, Vec<LedgerNote>>;

    /// The number noted about a subject; 0 if there is none.
    fn noted<'a>(&'a self, about: &'a NoteSubject) -> Reply<'a, u64>;

    /// Writes a note and returns the number held afterwards: the greater of old and new. If it rises, the catalog's version
    /// goes up by one, so that every server reads the note.
    fn note<'a>(&'a self, note: &'a LedgerNote) -> Reply<'a, u64>;

    /// The same for several notes, in one call where the ledger can. Callers bound how many they are.
    fn note_all<'a>(&'a self, notes: &'a [LedgerNote]) -> Reply<'a, ()> {
        Box::pin(async move {
            for note in notes {
                self.note(note).await?;
            }
            Ok(())
        })
    }
}
