//! What is recorded of a change or a refusal, and its line.

use std::net::IpAddr;

use sequent_engine::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::ApiError;

/// Limit on changed keys in the line of a reload. Their number is there in any case.
const KEYS_MAX: usize = 64;

/// A change, or a refusal. Texts of callers in it are bounded by what was checked before, or by [`ApiError`].
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    listener: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
    /// The user of this machine, by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<u32>,
    what: &'static str,
    #[serde(flatten)]
    details: Map<String, Value>,
    outcome: &'static str,
}

/// A line: an entry, when it happened, and the hash of the line before it.
#[derive(Serialize)]
struct Line<'a> {
    at: String,
    #[serde(flatten)]
    entry: &'a Entry,
    before: &'a str,
}

impl Entry {
    pub(crate) fn new(what: &'static str, outcome: &'static str) -> Self {
        let (listener, peer, principal, user) = (None, None, None, None);
        Self { listener, peer, principal, user, what, details: Map::new(), outcome }
    }

    /// A caller that was refused.
    pub(super) fn refused(error: &ApiError) -> Self {
        let entry = Self::new("refused", error.reason().as_str());
        let details = ["why", "verb", "sequence"].into_iter();
        let details = details.filter_map(|key| Some((key, error.detail(key)?)));
        details.fold(entry, |entry, (key, value)| entry.with(key, value))
    }

    /// The same with where it came from.
    pub(crate) fn by(self, listener: &'static str, peer: Option<IpAddr>) -> Self {
        Self { listener: Some(listener), peer, ..self }
    }

    /// The same with who asked.
    pub(crate) fn of(self, principal: Option<&str>) -> Self {
        Self { principal: principal.map(str::to_owned), ..self }
    }

    /// The same with a fact.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// The same with its outcome.
    pub(crate) fn ended(self, outcome: &'static str) -> Self {
        Self { outcome, ..self }
    }

    pub(super) fn with_user(self, user: Option<u32>) -> Self {
        Self { user, ..self }
    }

    pub(super) fn with_keys<'k>(self, keys: impl ExactSizeIterator<Item = &'k str>) -> Self {
        let (count, keys) = (keys.len(), keys.take(KEYS_MAX).collect::<Vec<_>>());
        self.with("changes", count).with("keys", keys)
    }

    /// Whether something was changed.
    pub(super) fn is_done(&self) -> bool {
        self.outcome == "OK"
    }

    /// Who asked, if that is known: the user of this machine has no name.
    pub(super) fn whose(&self) -> Option<&str> {
        self.principal.as_deref().or(self.user.map(|_| ""))
    }

    /// The line without its end.
    pub(super) fn line(&self, at_ms: u64, before: &str) -> String {
        let at = i64::try_from(at_ms).ok().and_then(|at_ms| Timestamp::from_millisecond(at_ms).ok());
        let at = at.map_or_else(String::new, |at| format!("{at:.3}"));
        serde_json::to_string(&Line { at, entry: self, before }).unwrap_or_default()
    }
}
