//! Answers of etcd to the reads of a transaction.

use sequent_core::SourceError;

use super::client::{Answer, Found};
use crate::ledger::documents::unreadable;

pub(super) use super::client::Kv;

/// The answers to reads, consumed in the order of the reads.
pub(super) struct Answers {
    found: std::vec::IntoIter<Found>,
    /// The revision of all answers.
    pub(super) revision: u64,
    /// Whether the transaction wrote.
    pub(super) succeeded: bool,
    /// The wall clock of the answering member.
    pub(super) clock_ms: u64,
}

impl Answers {
    pub(super) fn of(answer: Answer, clock_ms: u64) -> Self {
        let (revision, succeeded) = (answer.header.revision, answer.succeeded);
        let found: Vec<Found> = answer.found().collect();
        Self { found: found.into_iter(), revision, succeeded, clock_ms }
    }

    /// The answer to the next read, of a single name.
    pub(super) fn one(&mut self) -> Option<Kv> {
        self.found.next()?.kvs.pop()
    }

    /// All names of the next read.
    pub(super) fn all(&mut self) -> Found {
        self.found.next().unwrap_or_default()
    }
}

impl Kv {
    /// The name; all names are UTF-8.
    pub(super) fn name(&self) -> Result<&str, SourceError> {
        std::str::from_utf8(&self.key).map_err(|error| unreadable("name", error))
    }
}
