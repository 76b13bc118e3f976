//! Definitions of sequences, versioned and immutable.

use crate::{BoxFuture, SequenceName, SourceError};

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
}

/// The definitions in force.
pub trait Catalog: Send + Sync {
    /// The catalog's version, and the highest version of each definition, ascending by name.
    fn definitions(&self) -> BoxFuture<'_, Result<(u64, Vec<Definition>), SourceError>>;

    /// Adds a definition, or says why not.
    fn define<'a>(&'a self, definition: &'a Definition) -> BoxFuture<'a, Result<Defined, SourceError>>;
}
