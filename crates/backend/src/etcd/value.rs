//! What a name holds: JSON, so that an operator can read it; and what a transaction has read, in the order of the asks.

use sequent_core::{ErrorKind, SourceError};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    connection::TxnReply,
    gateway::{Found, Kv},
};

/// What was read, taken in the order in which it was asked for.
pub(super) struct Answers {
    found: std::vec::IntoIter<Found>,
    /// The revision of all of it.
    pub(super) revision: u64,
    /// Whether the transaction wrote.
    pub(super) succeeded: bool,
    /// The wall clock of who answered.
    pub(super) clock_ms: u64,
}

impl Answers {
    pub(super) fn of(reply: TxnReply) -> Self {
        let TxnReply { answer, clock_ms } = reply;
        let (revision, succeeded) = (answer.header.revision, answer.succeeded);
        let found: Vec<Found> = answer.found().collect();
        Self { found: found.into_iter(), revision, succeeded, clock_ms }
    }

    /// What the next ask found, which was of one name.
    pub(super) fn one(&mut self) -> Option<Kv> {
        self.found.next()?.kvs.pop()
    }

    /// All that the next ask found.
    pub(super) fn all(&mut self) -> Found {
        self.found.next().unwrap_or_default()
    }
}

impl Kv {
    /// The name, which we gave.
    pub(super) fn name(&self) -> Result<&str, SourceError> {
        std::str::from_utf8(&self.key).map_err(|error| unreadable("name").because(error))
    }
}

/// What is held, as we wrote it.
pub(super) fn of<T: DeserializeOwned>(what: &str, kv: &Kv) -> Result<T, SourceError> {
    serde_json::from_slice(&kv.value).map_err(|error| unreadable(what).because(error))
}

/// The same, or the default where there is nothing; and the revision that wrote it.
pub(super) fn or_default<T: DeserializeOwned + Default>(
    what: &str,
    kv: Option<&Kv>,
) -> Result<(T, u64), SourceError> {
    kv.map_or_else(|| Ok((T::default(), 0)), |kv| Ok((of(what, kv)?, kv.mod_revision)))
}

/// As it is held.
pub(super) fn text<T: Serialize>(value: &T) -> String {
    serde_json::json!(value).to_string()
}

pub(super) fn unreadable(what: &str) -> SourceError {
    SourceError::new(ErrorKind::Refused, format!("{what} in the ledger can't be read"))
}
