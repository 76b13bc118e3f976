//! One error table for all APIs, exit codes and SDK kinds.

use sequent_core::word_enum;

word_enum! {
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
        InvalidArgument = "INVALID_ARGUMENT",
        /// The sequence does not exist, and no pattern lets a first use define it.
        SequenceNotFound = "SEQUENCE_NOT_FOUND",
        /// The caller is not authenticated.
        Unauthenticated = "UNAUTHENTICATED",
        /// The caller may not do this.
        PermissionDenied = "PERMISSION_DENIED",
        /// The quota of the caller, or of the server, is used up.
        QuotaExceeded = "QUOTA_EXCEEDED",
        /// The sequence is at its end.
        SequenceExhausted = "SEQUENCE_EXHAUSTED",
        /// No slot could serve.
        NoShardAvailable = "NO_SHARD_AVAILABLE",
        /// The ledger is needed, and unavailable.
        LedgerUnavailable = "LEDGER_UNAVAILABLE",
        /// This server is stopping.
        Draining = "DRAINING",
        /// The ledger went back, or everything changed at once: an operator must declare the loss.
        RecoveryRequired = "RECOVERY_REQUIRED",
        /// No response within the caller's deadline; numbers in progress are discarded.
        DeadlineExceeded = "DEADLINE_EXCEEDED",
        /// The caller has a number that this cluster can't have issued.
        ClusterBehind = "CLUSTER_BEHIND",
        /// The document has another number already.
        DocumentConflict = "DOCUMENT_CONFLICT",
        /// The reservation was not confirmed in time.
        ReservationExpired = "RESERVATION_EXPIRED",
        /// The same version of a definition with another content, or a version that can't replace the one in force.
        DefinitionConflict = "DEFINITION_CONFLICT",
    }
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
    /// How the APIs and commands show it: gRPC's status, HTTP's status, RESP's first word, the exit code, and whether
    /// the same request may be sent again.
    const fn row(self) -> (&'static str, u16, &'static str, u8, Retry) {
        match self {
            Self::InvalidArgument => ("INVALID_ARGUMENT", 400, "ERR", 2, Retry::No),
            Self::SequenceNotFound => ("NOT_FOUND", 404, "ERR", 1, Retry::No),
            Self::Unauthenticated => ("UNAUTHENTICATED", 401, "NOAUTH", 1, Retry::No),
            Self::PermissionDenied => ("PERMISSION_DENIED", 403, "NOPERM", 1, Retry::No),
            Self::QuotaExceeded => ("RESOURCE_EXHAUSTED", 429, "QUOTA", 4, Retry::After),
            Self::SequenceExhausted => ("FAILED_PRECONDITION", 409, "EXHAUSTED", 1, Retry::No),
            Self::NoShardAvailable | Self::LedgerUnavailable | Self::Draining => {
                ("UNAVAILABLE", 503, "TRYAGAIN", 4, Retry::Yes)
            }
            Self::RecoveryRequired => ("FAILED_PRECONDITION", 409, "ERR", 3, Retry::Page),
            Self::DeadlineExceeded => ("DEADLINE_EXCEEDED", 504, "TRYAGAIN", 4, Retry::YesAtACost),
            Self::ClusterBehind => ("FAILED_PRECONDITION", 409, "ERR", 1, Retry::Page),
            Self::DocumentConflict | Self::ReservationExpired | Self::DefinitionConflict => {
                ("FAILED_PRECONDITION", 409, "ERR", 1, Retry::No)
            }
        }
    }

    /// The gRPC status code's name.
    ///
    /// A reason that needs an operator is `FAILED_PRECONDITION`: "do not retry until the system state has been fixed".
    /// gRPC defines `UNAVAILABLE` and `ABORTED` as calls to repeat, and libraries and proxies do repeat them.
    pub const fn grpc(self) -> &'static str {
        self.row().0
    }

    /// The HTTP status: 409 for each reason with gRPC's `FAILED_PRECONDITION`. Proxies and clients repeat a 503, and
    /// many repeat any 5xx.
    pub const fn http(self) -> u16 {
        self.row().1
    }

    /// The first word of a RESP error.
    pub const fn resp(self) -> &'static str {
        self.row().2
    }

    /// The exit code of a command that fails for this reason: 1 failed, 2 usage, 3 configuration refused, 4 try again.
    pub const fn exit_code(self) -> u8 {
        self.row().3
    }

    /// Whether the same request may be sent again.
    pub const fn retry(self) -> Retry {
        self.row().4
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
