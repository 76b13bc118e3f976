//! What callers ask for, and what they get.

use std::time::Instant;

use sequent_core::{Blocks, NameError, SequenceName};

/// An ask for numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextRequest {
    /// The sequence.
    pub name: SequenceName,
    /// How many numbers, all or nothing: 1 by default.
    pub count: u64,
    /// When the caller stops waiting; `limits.deadline_ms` from now by default.
    pub deadline: Option<Instant>,
}

impl NextRequest {
    /// One number of `name`, within the configured deadline.
    pub fn new(name: &str) -> Result<Self, NameError> {
        Ok(Self { name: name.parse()?, count: 1, deadline: None })
    }

    /// The same ask for `count` numbers.
    #[must_use]
    pub fn count(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// The same ask, waiting until `deadline`.
    #[must_use]
    pub fn deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }
}

/// Numbers that were handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The sequence.
    pub sequence: SequenceName,
    /// As many as asked for, ascending by first.
    pub numbers: Blocks,
    /// The version of the definition that they were given under.
    pub version: u32,
}
