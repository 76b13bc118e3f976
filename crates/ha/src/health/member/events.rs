//! Transitions of a member, their causes, and the reasons for a probe.

use std::time::Duration;

use sequent_core::{ErrorKind, SourceError, Transitions, Why};

/// The legal transitions of a slot's state.
pub(crate) static SLOT_TRANSITIONS: Transitions = Transitions::new(
    "slot",
    &[
        ("live", "evicted"),
        ("live", "quarantined"),
        ("live", "draining"),
        // A probe passed, which was a last resort.
        ("evicted", "live"),
        ("evicted", "probation"),
        ("evicted", "quarantined"),
        ("evicted", "draining"),
        ("probation", "live"),
        ("probation", "evicted"),
        ("probation", "quarantined"),
        ("probation", "draining"),
        ("quarantined", "probation"),
        ("draining", "drained"),
        ("draining", "evicted"),
        ("draining", "probation"),
        ("draining", "quarantined"),
        ("drained", "evicted"),
        ("drained", "probation"),
        ("drained", "quarantined"),
    ],
);

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

/// Why a member is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProbeReason {
    /// Its wait has ended.
    Due,
    /// No other member is left.
    LastResort,
}

/// A change of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Transition {
    Evicted { cause: Cause, retry_after: Option<Duration> },
    Probation,
    Rescued { out: Duration },
    ProbeFailed { kind: ErrorKind, retry_after: Duration },
    Quarantined { cause: Cause },
    Drained { after: Duration },
}
