//! What can go wrong for a caller: a kind to match on, the reason of the one error table, and a text for people.

use std::{fmt, sync::Arc, time::Duration};

use sequent_buffer::TakeError;
use sequent_core::SourceError;

/// What class a failure is of. The precise word is [`Error::reason`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is out of bounds; no number was consumed.
    InvalidArgument,
    /// No such sequence.
    NotFound,
    /// The server does not know the caller, or does not let it.
    Denied,
    /// The caller, or the server, has had its share for now.
    QuotaExceeded,
    /// The sequence is at its end.
    Exhausted,
    /// No server could serve.
    Unavailable,
    /// No number in the caller's time.
    DeadlineExceeded,
    /// A person has to act at the cluster first.
    NeedsOperator,
    /// The cluster can't have given what this client was given: it went back to an older state, or is another. Nobody is
    /// to take numbers of it before a person has acted: page somebody.
    ClusterBehind,
    /// It contradicts what the cluster holds.
    Conflict,
    /// An answer that is none of this protocol's.
    Protocol,
}

/// The reasons of the table that this crate gives by itself.
pub(crate) const INVALID_ARGUMENT: &str = "INVALID_ARGUMENT";
pub(crate) const DEADLINE_EXCEEDED: &str = "DEADLINE_EXCEEDED";
/// No endpoint answered: the one reason that no server can give.
pub(crate) const SERVER_UNAVAILABLE: &str = "SERVER_UNAVAILABLE";
/// Something answered, but not like a server of this kind.
pub(crate) const PROTOCOL: &str = "PROTOCOL";

/// The field of what was outdated.
const OUTDATED: &str = "definition";

/// The label of a reason that is not in the table.
const OTHER: &str = "other";

/// The table: a reason, its class, and whether the same request may be sent again.
const REASONS: [(&str, ErrorKind, bool); 17] = [
    (INVALID_ARGUMENT, ErrorKind::InvalidArgument, false),
    ("SEQUENCE_NOT_FOUND", ErrorKind::NotFound, false),
    ("UNAUTHENTICATED", ErrorKind::Denied, false),
    ("PERMISSION_DENIED", ErrorKind::Denied, false),
    ("QUOTA_EXCEEDED", ErrorKind::QuotaExceeded, true),
    ("SEQUENCE_EXHAUSTED", ErrorKind::Exhausted, false),
    ("NO_SHARD_AVAILABLE", ErrorKind::Unavailable, true),
    ("LEDGER_UNAVAILABLE", ErrorKind::Unavailable, true),
    ("DRAINING", ErrorKind::Unavailable, true),
    (SERVER_UNAVAILABLE, ErrorKind::Unavailable, true),
    ("RECOVERY_REQUIRED", ErrorKind::NeedsOperator, false),
    (DEADLINE_EXCEEDED, ErrorKind::DeadlineExceeded, true),
    ("CLUSTER_BEHIND", ErrorKind::ClusterBehind, false),
    ("DOCUMENT_CONFLICT", ErrorKind::Conflict, false),
    ("RESERVATION_EXPIRED", ErrorKind::Conflict, false),
    ("DEFINITION_CONFLICT", ErrorKind::Conflict, false),
    (PROTOCOL, ErrorKind::Protocol, false),
];

/// A field that is out of bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub field: String,
    /// Its value and the bound.
    pub problem: String,
}

/// A take that gave no number. Cheap to clone.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use sequent_client::{Client, ErrorKind};
/// let error = Client::in_memory().sequence("../x").unwrap_err();
/// assert_eq!((error.kind(), error.reason()), (ErrorKind::InvalidArgument, "INVALID_ARGUMENT"));
/// assert!(!error.is_retryable());
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    reason: String,
    is_retryable: bool,
    retry_after: Option<Duration>,
    fields: Vec<Field>,
    text: String,
}

impl Error {
    /// A failure with a word of the table; a word that it does not know is a failure of the protocol.
    pub(crate) fn new(reason: &str, text: impl Into<String>) -> Self {
        let known = REASONS.iter().find(|(known, ..)| *known == reason);
        let (kind, is_retryable) =
            known.map_or((ErrorKind::Protocol, false), |(_, kind, retryable)| (*kind, *retryable));
        let inner = Inner {
            kind,
            reason: reason.to_owned(),
            is_retryable,
            retry_after: None,
            fields: Vec::new(),
            text: text.into(),
        };
        Self(Arc::new(inner))
    }

    /// An argument out of bounds.
    pub(crate) fn field(field: &str, value: impl fmt::Display, bound: impl fmt::Display) -> Self {
        let problem = format!("is {value}: {bound}");
        let error = Self::new(INVALID_ARGUMENT, format!("{field} {problem}"));
        error.with_fields(vec![Field { field: field.to_owned(), problem }])
    }

    /// No number in the caller's time.
    pub(crate) fn late(sequence: &str, within: Duration) -> Self {
        let ms = within.as_millis();
        Self::new(DEADLINE_EXCEEDED, format!("no numbers of {sequence} came within {ms} ms"))
    }

    pub(crate) fn with_fields(self, fields: Vec<Field>) -> Self {
        let inner = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Inner { fields, ..inner }))
    }

    pub(crate) fn with_retry_after(self, retry_after: Option<Duration>) -> Self {
        let inner = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Inner { retry_after, ..inner }))
    }

    /// What a reservoir's failure was to whoever filled it.
    pub(crate) fn of(error: TakeError, sequence: &str, within: Duration) -> Self {
        match error {
            TakeError::Deadline => Self::late(sequence, within),
            TakeError::Closed => Self::new(SERVER_UNAVAILABLE, "this client is closed"),
            TakeError::Source(error) => Self::beneath(&error).unwrap_or_else(|| {
                Self::new(SERVER_UNAVAILABLE, format!("no numbers of {sequence}: {error}"))
            }),
        }
    }

    /// The same, where it is this crate's own.
    pub(crate) fn beneath_take(error: &TakeError) -> Option<Self> {
        match error {
            TakeError::Source(error) => Self::beneath(error),
            _ => None,
        }
    }

    /// Whether a server says that a sequence has no leases, since it is dense.
    pub(crate) fn says_dense(&self) -> bool {
        self.kind() == ErrorKind::InvalidArgument && self.fields().iter().any(|it| it.field == "placement")
    }

    /// A lease of another version or period than the one that texts are rendered by.
    pub(crate) fn outdated(text: String) -> Self {
        let error = Self::new("DEFINITION_CONFLICT", text);
        error.with_fields(vec![Field { field: OUTDATED.to_owned(), problem: "changed".to_owned() }])
    }

    /// Whether it is [`outdated`](Self::outdated).
    pub(crate) fn is_outdated(&self) -> bool {
        self.kind() == ErrorKind::Conflict && self.fields().iter().any(|it| it.field == OUTDATED)
    }

    fn beneath(error: &SourceError) -> Option<Self> {
        std::error::Error::source(error)?.downcast_ref::<Self>().cloned()
    }

    /// What class it is of: what callers match on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The word of the error table, the same at every door: `NO_SHARD_AVAILABLE`, `SEQUENCE_NOT_FOUND`, …; two are
    /// this crate's own: `SERVER_UNAVAILABLE` where no endpoint answered, `PROTOCOL` where something else answered.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Every label of a reason: a server's own word is none, or whoever answers could make as many series as it likes.
    pub(crate) fn labels() -> impl Iterator<Item = &'static str> {
        REASONS.iter().map(|(known, ..)| *known).chain([OTHER])
    }

    /// The one of this error.
    pub(crate) fn label(&self) -> &'static str {
        let known = REASONS.iter().find(|(known, ..)| *known == self.0.reason);
        known.map_or(OTHER, |(known, ..)| known)
    }

    /// Whether the same call may succeed later without anybody acting. Numbers never repeat, however often it is made.
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }

    /// How long the server asked to wait before that.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The fields that are out of bounds, for [`ErrorKind::InvalidArgument`].
    pub fn fields(&self) -> &[Field] {
        &self.0.fields
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.reason, self.0.text)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::ErrorKind as Core;

    #[test]
    fn what_lay_beneath_a_refill_comes_through() {
        let typed = Error::new("SEQUENCE_NOT_FOUND", "no sequence x");
        let source = SourceError::new(Core::Refused, "lease").because(typed);
        let found = Error::of(TakeError::Source(source), "x", Duration::ZERO);
        assert_eq!((found.kind(), found.is_retryable()), (ErrorKind::NotFound, false));
        let other = SourceError::new(Core::Unavailable, "the refill was cut off");
        assert!(Error::of(TakeError::Source(other), "x", Duration::ZERO).is_retryable());
    }

    #[test]
    fn a_word_from_a_newer_server_is_kept_and_not_tried_again() {
        let error = Error::new("SOMETHING_NEW", "x");
        assert_eq!(
            (error.kind(), error.reason(), error.is_retryable()),
            (ErrorKind::Protocol, "SOMETHING_NEW", false)
        );
        assert_eq!((error.label(), Error::new(PROTOCOL, "x").label()), ("other", PROTOCOL));
    }
}
