//! One error table for all APIs, exit codes and SDK kinds.

use std::fmt;

/// The reason why a request or a start failed. Callers match on it; it has the same name in every API.
///
/// ```
/// use sequent_engine::{Reason, Retry};
/// assert_eq!(Reason::NoShardAvailable.as_str(), "NO_SHARD_AVAILABLE");
/// assert_eq!((Reason::NoShardAvailable.exit_code(), Reason::NoShardAvailable.retry()), (4, Retry::Yes));
/// assert_eq!(Reason::RecoveryRequired.exit_code(), 3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A field of the request is out of bounds; no number was consumed.
    InvalidArgument,
    /// The sequence does not exist, and no pattern lets a first use define it.
    SequenceNotFound,
    /// The caller is not authenticated.
    Unauthenticated,
    /// The caller may not do this.
    PermissionDenied,
    /// The quota of the caller, or of the server, is used up.
    QuotaExceeded,
    /// The sequence is at its end.
    SequenceExhausted,
    /// No slot could serve.
    NoShardAvailable,
    /// The ledger is needed, and unavailable.
    LedgerUnavailable,
    /// This server is stopping.
    Draining,
    /// The ledger went back, or everything changed at once: an operator must declare the loss.
    RecoveryRequired,
    /// No response within the caller's deadline; numbers in progress are discarded.
    DeadlineExceeded,
    /// The caller has a number that this cluster can't have issued.
    ClusterBehind,
    /// The document has another number already.
    DocumentConflict,
    /// The reservation was not confirmed in time.
    ReservationExpired,
    /// The same version of a definition with another content, or a version that can't replace the one in force.
    DefinitionConflict,
}

/// Whether the same request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Retry {
    /// No: it would fail again.
    No,
    /// No: it would fail until an operator has acted, who should be alerted.
    Page,
    /// Yes, after the time that the response names.
    After,
    /// Yes.
    Yes,
    /// Yes; each attempt may lose numbers.
    YesAtACost,
}

impl Retry {
    /// Whether a retry can help without an operator.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::After | Self::Yes | Self::YesAtACost)
    }
}

impl Reason {
    /// Every reason, in the order of the table.
    pub const ALL: [Self; 15] = [
        Self::InvalidArgument,
        Self::SequenceNotFound,
        Self::Unauthenticated,
        Self::PermissionDenied,
        Self::QuotaExceeded,
        Self::SequenceExhausted,
        Self::NoShardAvailable,
        Self::LedgerUnavailable,
        Self::Draining,
        Self::RecoveryRequired,
        Self::DeadlineExceeded,
        Self::ClusterBehind,
        Self::DocumentConflict,
        Self::ReservationExpired,
        Self::DefinitionConflict,
    ];

    /// The name in every API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::SequenceNotFound => "SEQUENCE_NOT_FOUND",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::QuotaExceeded => "QUOTA_EXCEEDED",
            Self::SequenceExhausted => "SEQUENCE_EXHAUSTED",
            Self::NoShardAvailable => "NO_SHARD_AVAILABLE",
            Self::LedgerUnavailable => "LEDGER_UNAVAILABLE",
            Self::Draining => "DRAINING",
            Self::RecoveryRequired => "RECOVERY_REQUIRED",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::ClusterBehind => "CLUSTER_BEHIND",
            Self::DocumentConflict => "DOCUMENT_CONFLICT",
            Self::ReservationExpired => "RESERVATION_EXPIRED",
            Self::DefinitionConflict => "DEFINITION_CONFLICT",
        }
    }

    /// The gRPC status code's name.
    ///
    /// A reason that needs an operator is `FAILED_PRECONDITION`: "do not retry until the system state has been fixed".
    /// gRPC defines `UNAVAILABLE` and `ABORTED` as calls to repeat, and libraries and proxies do repeat them.
    pub const fn grpc(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::SequenceNotFound => "NOT_FOUND",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::QuotaExceeded => "RESOURCE_EXHAUSTED",
            Self::NoShardAvailable | Self::LedgerUnavailable | Self::Draining => "UNAVAILABLE",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::SequenceExhausted
            | Self::ClusterBehind
            | Self::RecoveryRequired
            | Self::DocumentConflict
            | Self::ReservationExpired
            | Self::DefinitionConflict => "FAILED_PRECONDITION",
        }
    }

    /// The HTTP status: 409 for each reason with gRPC's `FAILED_PRECONDITION`. Proxies and clients repeat a 503, and
    /// many repeat any 5xx.
    pub const fn http(self) -> u16 {
        match self {
            Self::InvalidArgument => 400,
            Self::Unauthenticated => 401,
            Self::PermissionDenied => 403,
            Self::SequenceNotFound => 404,
            Self::SequenceExhausted
            | Self::RecoveryRequired
            | Self::ClusterBehind
            | Self::DocumentConflict
            | Self::ReservationExpired
            | Self::DefinitionConflict => 409,
            Self::QuotaExceeded => 429,
            Self::NoShardAvailable | Self::LedgerUnavailable | Self::Draining => 503,
            Self::DeadlineExceeded => 504,
        }
    }

    /// The first word of a RESP error.
    pub const fn resp(self) -> &'static str {
        match self {
            Self::Unauthenticated => "NOAUTH",
            Self::PermissionDenied => "NOPERM",
            Self::QuotaExceeded => "QUOTA",
            Self::SequenceExhausted => "EXHAUSTED",
            Self::NoShardAvailable | Self::LedgerUnavailable | Self::Draining | Self::DeadlineExceeded => {
                "TRYAGAIN"
            }
            Self::InvalidArgument
            | Self::SequenceNotFound
            | Self::RecoveryRequired
            | Self::ClusterBehind
            | Self::DocumentConflict
            | Self::ReservationExpired
            | Self::DefinitionConflict => "ERR",
        }
    }

    /// The exit code of a command that fails for this reason: 1 failed, 2 usage, 3 configuration refused, 4 try again.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::InvalidArgument => 2,
            Self::RecoveryRequired => 3,
            Self::QuotaExceeded
            | Self::NoShardAvailable
            | Self::LedgerUnavailable
            | Self::Draining
            | Self::DeadlineExceeded => 4,
            Self::SequenceNotFound
            | Self::Unauthenticated
            | Self::PermissionDenied
            | Self::SequenceExhausted
            | Self::ClusterBehind
            | Self::DocumentConflict
            | Self::ReservationExpired
            | Self::DefinitionConflict => 1,
        }
    }

    /// Whether the same request may be sent again.
    pub const fn retry(self) -> Retry {
        match self {
            Self::QuotaExceeded => Retry::After,
            Self::NoShardAvailable | Self::LedgerUnavailable | Self::Draining => Retry::Yes,
            Self::DeadlineExceeded => Retry::YesAtACost,
            Self::RecoveryRequired | Self::ClusterBehind => Retry::Page,
            Self::InvalidArgument
            | Self::SequenceNotFound
            | Self::Unauthenticated
            | Self::PermissionDenied
            | Self::SequenceExhausted
            | Self::DocumentConflict
            | Self::ReservationExpired
            | Self::DefinitionConflict => Retry::No,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_tried_again_exits_with_4_and_nothing_else_does() {
        for reason in Reason::ALL {
            assert_eq!(reason.retry().is_retryable(), reason.exit_code() == 4, "{reason}");
        }
    }

    #[test]
    fn nothing_on_the_way_repeats_what_would_fail_again() {
        for reason in Reason::ALL.iter().filter(|reason| !reason.retry().is_retryable()) {
            assert!(!matches!(reason.grpc(), "UNAVAILABLE" | "ABORTED" | "RESOURCE_EXHAUSTED"), "{reason}");
            assert!(reason.http() < 500 && reason.http() != 429, "{reason}");
            assert_eq!(reason.http() == 409, reason.grpc() == "FAILED_PRECONDITION", "{reason}");
        }
    }

    #[test]
    fn words_differ() {
        let mut words: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Reason::ALL.len());
    }
}
