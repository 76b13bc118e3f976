//! Errors of the client: a kind to match on, a reason from the table of errors, and a text.

use std::{fmt, sync::Arc, time::Duration};

use sequent_buffer::TakeError;
use sequent_core::SourceError;

/// Kind of an error. [`Error::reason`] is more precise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is out of bounds. No number was consumed.
    InvalidArgument,
    /// The sequence does not exist.
    NotFound,
    /// The servers do not know who the caller is: it has no token, a wrong one, or one that has expired.
    Unauthenticated,
    /// The caller may not do this.
    PermissionDenied,
    /// A quota of the caller or of the server is used up for now.
    QuotaExceeded,
    /// The sequence has reached its end.
    Exhausted,
    /// No server could serve the request.
    Unavailable,
    /// No number within the deadline.
    DeadlineExceeded,
    /// An operator has to act first.
    NeedsOperator,
    /// The cluster can't have given a number that this client holds: it was restored to an older state, or is another
    /// cluster. Take no numbers from it before an operator has acted; raise an alert.
    ClusterBehind,
    /// The request contradicts the state of the cluster.
    Conflict,
    /// The response is not one of this protocol.
    Protocol,
}

/// Reasons that this crate gives on its own.
pub(crate) const INVALID_ARGUMENT: &str = "INVALID_ARGUMENT";
pub(crate) const DEADLINE_EXCEEDED: &str = "DEADLINE_EXCEEDED";
/// No endpoint answered. Only a client can give this reason.
pub(crate) const SERVER_UNAVAILABLE: &str = "SERVER_UNAVAILABLE";
/// Another program answered, not a Sequent server.
pub(crate) const PROTOCOL: &str = "PROTOCOL";

/// Field of an outdated definition.
const OUTDATED: &str = "definition";

/// Label of a reason that is not in the table.
const OTHER: &str = "other";

/// Table of reasons: the kind, and whether the same request may be retried.
const REASONS: [(&str, ErrorKind, bool); 17] = [
    (INVALID_ARGUMENT, ErrorKind::InvalidArgument, false),
    ("SEQUENCE_NOT_FOUND", ErrorKind::NotFound, false),
    ("UNAUTHENTICATED", ErrorKind::Unauthenticated, false),
    ("PERMISSION_DENIED", ErrorKind::PermissionDenied, false),
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
    /// Name of the field.
    pub field: String,
    /// Its value and the bound.
    pub problem: String,
}

/// Failure of a call. Cheap to clone.
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
    /// An error with a reason of the table. A reason that is not in the table has the kind `Protocol`.
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

    /// No number within the deadline.
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

    /// The error of a reservoir, as its caller should see it.
    pub(crate) fn of(error: TakeError, sequence: &str, within: Duration) -> Self {
        match error {
            TakeError::Deadline => Self::late(sequence, within),
            TakeError::Closed => Self::new(SERVER_UNAVAILABLE, "this client is closed"),
            TakeError::Source(error) => Self::as_client_error(&error).unwrap_or_else(|| {
                Self::new(SERVER_UNAVAILABLE, format!("no numbers of {sequence}: {error}"))
            }),
        }
    }

    /// The error of this crate behind a reservoir's error, if there is one.
    pub(crate) fn of_reservoir(error: &TakeError) -> Option<Self> {
        match error {
            TakeError::Source(error) => Self::as_client_error(error),
            _ => None,
        }
    }

    /// Whether the server refused a lease because the sequence is dense.
    pub(crate) fn says_dense(&self) -> bool {
        self.kind() == ErrorKind::InvalidArgument && self.fields().iter().any(|it| it.field == "placement")
    }

    /// The lease has another version or period than the renderer.
    pub(crate) fn outdated(text: String) -> Self {
        let error = Self::new("DEFINITION_CONFLICT", text);
        error.with_fields(vec![Field { field: OUTDATED.to_owned(), problem: "changed".to_owned() }])
    }

    /// Whether it is [`outdated`](Self::outdated).
    pub(crate) fn is_outdated(&self) -> bool {
        self.kind() == ErrorKind::Conflict && self.fields().iter().any(|it| it.field == OUTDATED)
    }

    fn as_client_error(error: &SourceError) -> Option<Self> {
        std::error::Error::source(error)?.downcast_ref::<Self>().cloned()
    }

    /// The kind to match on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The reason from the table of errors, the same in every protocol: `NO_SHARD_AVAILABLE`, `SEQUENCE_NOT_FOUND`, …
    ///
    /// Two reasons are this crate's own: `SERVER_UNAVAILABLE` if no endpoint answered, `PROTOCOL` if another program
    /// did.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// All labels of reasons. A reason that is not in the table is no label, because any program that answers could
    /// then create series without bound.
    pub(crate) fn labels() -> impl Iterator<Item = &'static str> {
        REASONS.iter().map(|(known, ..)| *known).chain([OTHER])
    }

    /// The label of this error.
    pub(crate) fn label(&self) -> &'static str {
        let known = REASONS.iter().find(|(known, ..)| *known == self.0.reason);
        known.map_or(OTHER, |(known, ..)| known)
    }

    /// Whether the same call may succeed later without an operator. Numbers never repeat, however often it is
    /// retried.
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }

    /// How long the server asked to wait before a retry.
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
