//! What is told of a member: why it is out, on what ground it is tried, what flipped.

use std::time::Duration;

use sequent_core::{ErrorKind, SourceError, Why};

/// Why a member is out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) kind: ErrorKind,
    pub(crate) why: Option<Why>,
    pub(crate) detail: String,
}

impl From<&SourceError> for Cause {
    fn from(error: &SourceError) -> Self {
        Self { kind: error.kind(), why: error.why(), detail: error.to_string() }
    }
}

/// On what ground a member is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Its time has come.
    Due,
    /// No other is left.
    LastResort,
}

/// What changed, returned on the change only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flip {
    Evicted { cause: Cause, retry_after: Option<Duration> },
    Probation,
    Rescued { out: Duration },
    ProbeFailed { kind: ErrorKind, retry_after: Duration },
    Quarantined { cause: Cause },
    Drained { after: Duration },
}
