//! JSON values in etcd, readable for operators, and the answers to a transaction's reads.

use sequent_core::{ErrorKind, SourceError};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    client::{Found, Kv},
    connection::TxnReply,
};

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
    pub(super) fn of(reply: TxnReply) -> Self {
        let TxnReply { answer, clock_ms } = reply;
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
        std::str::from_utf8(&self.key).map_err(|error| unreadable("name").because(error))
    }
}

/// Parses a value.
pub(super) fn of<T: DeserializeOwned>(what: &str, kv: &Kv) -> Result<T, SourceError> {
    serde_json::from_slice(&kv.value).map_err(|error| unreadable(what).because(error))
}

/// Parses a value, or the default if there is none; also returns the revision that wrote it.
pub(super) fn or_default<T: DeserializeOwned + Default>(
    what: &str,
    kv: Option<&Kv>,
) -> Result<(T, u64), SourceError> {
    kv.map_or_else(|| Ok((T::default(), 0)), |kv| Ok((of(what, kv)?, kv.mod_revision)))
}

/// The stored form of a value.
pub(super) fn text<T: Serialize>(value: &T) -> String {
    serde_json::json!(value).to_string()
}

pub(super) fn unreadable(what: &str) -> SourceError {
    SourceError::new(ErrorKind::Refused, format!("{what} in the ledger can't be read"))
}
