//! Errors for callers: a reason, and a text without internal details.

mod faults;
mod open_error;
pub(crate) mod reason;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt};

use sequent_core::{Condition, ErrorKind, FieldFault, SequenceName, SlotFailure, SourceError, Why, line_of};

pub(crate) use faults::End;
pub use faults::{BURN, QuotaFault, SlotCause};
pub use open_error::OpenError;

use crate::error::reason::Reason;

/// A request that failed: the reason, and a text that names no address and no statement.
///
/// The underlying failure is [`EngineError::detail`], for log and status only.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{text}")]
pub struct EngineError {
    reason: Reason,
    text: String,
    fields: Vec<FieldFault>,
    source: Option<SourceError>,
    quota: Option<Box<QuotaFault>>,
}

impl EngineError {
    /// A failure for `reason`; `text` is shown to callers (lower case, no full stop, no addresses).
    pub fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into(), fields: Vec::new(), source: None, quota: None }
    }

    /// A request with a field out of bounds.
    pub fn invalid(
        field: impl Into<Cow<'static, str>>,
        value: impl fmt::Display,
        bound: impl Into<String>,
    ) -> Self {
        let field = match field.into() {
            Cow::Owned(field) => Cow::Owned(shown(field)),
            known @ Cow::Borrowed(_) => known,
        };
        let fault = FieldFault::new(field, shown(value.to_string()), bound);
        let text = fault.to_string();
        Self { fields: vec![fault], ..Self::new(Reason::InvalidArgument, text) }
    }

    /// A request beyond a limit.
    pub fn over_quota(text: impl Into<String>, quota: QuotaFault) -> Self {
        Self { quota: Some(Box::new(quota)), ..Self::new(Reason::QuotaExceeded, text) }
    }

    /// A request with a text out of bounds, which is shown in quotes.
    pub fn invalid_text(field: impl Into<Cow<'static, str>>, value: &str, bound: impl Into<String>) -> Self {
        let invalid = Self::invalid(field, value, bound);
        let text = invalid.fields.first();
        let text = text.map(|fault| format!("{} is {:?}: {}", fault.field, fault.value, fault.bound));
        Self { text: text.unwrap_or_default(), ..invalid }
    }

    /// The same failure, with the field of the request that led to it.
    #[must_use]
    pub(crate) fn of_field(
        self,
        field: &'static str,
        value: impl fmt::Display,
        bound: impl Into<String>,
    ) -> Self {
        let fault = FieldFault::new(field, shown(value.to_string()), bound);
        Self { fields: vec![fault], ..self }
    }

    /// The error for callers of `sequence` after a failure of a source.
    pub fn of_source(sequence: &SequenceName, error: SourceError) -> Self {
        let reason = reason_of(error.kind());
        let text = match error.kind() {
            ErrorKind::Exhausted => at_its_end(sequence),
            ErrorKind::NoWitness => "the ledger is needed, and away".to_owned(),
            ErrorKind::LedgerBehind if error.condition() == Some(Condition::LayoutChanged) => format!(
                "{}this server counts by the layout before, and must be restarted with the new configuration",
                sequent_guard::LAYOUT_CHANGED
            ),
            ErrorKind::LedgerBehind => {
                "the ledger went back, or is refused: a person must act, `sequent shards` says how".to_owned()
            }
            // The text names slots and cause classes only.
            ErrorKind::NoShard => format!("no slot can serve {sequence}: {}", error.context()),
            kind => format!("{sequence} can't be served: {kind}"),
        };
        Self { source: Some(error), ..Self::new(reason, text) }
    }

    /// The same failure of a sequence at its end, with the key's last number, and the numbers left if they are fewer than
    /// the `count` requested; nothing was taken.
    #[must_use]
    pub(crate) fn with_end(self, end: End, count: u64) -> Self {
        if self.reason != Reason::SequenceExhausted {
            return self;
        }
        let End { limit, given, left } = end;
        // This process may not know what others gave.
        let text = match given {
            0 if left > 0 => {
                let name = self.text.strip_suffix(AT_ITS_END).unwrap_or(&self.text);
                format!("{name}ends at {limit}: {left} numbers are left")
            }
            0 => format!("{}, {limit}: 0 numbers are left", self.text),
            _ => format!("{}, {limit}: {given} was given, and {left} numbers are left", self.text),
        };
        if left == 0 || count <= left {
            return Self { text, ..self };
        }
        let bound = format!("at most {left} are allowed, since no more are left");
        let text = format!("{text}: count is {count}: {bound}");
        Self { text, ..self.of_field("count", count, bound) }
    }

    /// The error of a step of the start that was deferred and has not succeeded yet.
    pub(crate) fn of_open(error: &OpenError) -> Self {
        let reason = match error {
            OpenError::Unavailable(_) => Reason::LedgerUnavailable,
            OpenError::Recovery(_) => Reason::RecoveryRequired,
            _ => Reason::DefinitionConflict,
        };
        Self::new(reason, error.to_string())
    }

    /// The reason, which callers match on.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// Whether the ledger itself was refused, its file, login or schema: a retry can't help.
    pub fn is_refused(&self) -> bool {
        let refused = |source: &SourceError| source.kind() == ErrorKind::Refused;
        self.reason == Reason::RecoveryRequired && self.source.as_ref().is_some_and(refused)
    }

    /// The exit code of the reason.
    pub fn exit_code(&self) -> u8 {
        self.reason.exit_code()
    }

    /// The fields out of bounds, for [`Reason::InvalidArgument`], or the fields that name something unknown.
    pub fn fields(&self) -> &[FieldFault] {
        &self.fields
    }

    /// The limit that refused the request, for [`Reason::QuotaExceeded`]; `None` for a limit of the whole server.
    pub fn quota(&self) -> Option<&QuotaFault> {
        self.quota.as_deref()
    }

    /// Each slot with the class of its cause, for [`Reason::NoShardAvailable`].
    pub fn slots(&self) -> Vec<SlotCause> {
        let failures = self.source.as_ref().map_or(&[][..], SourceError::slots);
        let cause = |failure: &SlotFailure| SlotCause {
            slot: failure.slot,
            kind: failure.kind,
            cause: failure.cause(),
        };
        failures.iter().map(cause).collect()
    }

    /// The underlying failure, with addresses and statements: for log, status and the operator at the command line.
    pub fn detail(&self) -> Option<String> {
        let source = self.source.as_ref()?;
        if source.slots().is_empty() {
            return Some(source.to_string());
        }
        let cause = |failure| (said_of(failure), detail(failure));
        let shown = |slots, (said, detail)| format!("{slots}: {said}: {detail}");
        Some(line_of(source.slots(), cause, shown, "; "))
    }
}

/// A call to the ledger failed, and no sequence is asked for numbers: it is unavailable, unless an operator has to act.
impl From<SourceError> for EngineError {
    fn from(error: SourceError) -> Self {
        let (reason, text) = match error.kind() {
            ErrorKind::LedgerBehind => {
                (Reason::RecoveryRequired, "the ledger is older than what it gave, or another one")
            }
            ErrorKind::Refused => (Reason::RecoveryRequired, "the ledger is refused: a person must mend it"),
            _ => (Reason::LedgerUnavailable, "the ledger is needed, and can't be used"),
        };
        Self { source: Some(error), ..Self::new(reason, text) }
    }
}

/// What a sequence is of which no number is left.
const AT_ITS_END: &str = "is at its end";

/// The text for callers of a sequence that is at its end.
pub(crate) fn at_its_end(sequence: &SequenceName) -> String {
    format!("{sequence} {AT_ITS_END}")
}

/// Upper limit in bytes of a caller's own text in an error, since errors are written to logs and sent through every
/// API. No API has a lower limit.
const SHOWN_BYTES_MAX: usize = 128;

/// How many bytes are kept of a longer text; the rest of the limit is for its length.
const KEPT_BYTES_MAX: usize = 88;

/// A caller's text, cut if it is long.
fn shown(text: String) -> String {
    if text.len() <= SHOWN_BYTES_MAX {
        return text;
    }
    let end = (0..=KEPT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}… ({} characters)", &text[..end], text.chars().count())
}

/// The word before the detail: that of a slot command, which is not the store's fault, or the class.
fn said_of(failure: &SlotFailure) -> &'static str {
    failure.why.filter(|why| why.is_by_word()).map_or(failure.kind.as_str(), Why::as_str)
}

/// A cause without its class in front, which is named beside it.
fn detail(failure: &SlotFailure) -> &str {
    let rest = failure.detail.strip_prefix(failure.kind.as_str()).and_then(|rest| rest.strip_prefix(": "));
    rest.unwrap_or(&failure.detail)
}

/// The reason for a caller after a kind of failure.
fn reason_of(kind: ErrorKind) -> Reason {
    match kind {
        ErrorKind::Exhausted => Reason::SequenceExhausted,
        ErrorKind::NoWitness => Reason::LedgerUnavailable,
        ErrorKind::LedgerBehind => Reason::RecoveryRequired,
        ErrorKind::Timeout
        | ErrorKind::Unavailable
        | ErrorKind::Contended
        | ErrorKind::Refused
        | ErrorKind::Regressed
        | ErrorKind::InstanceChanged
        | ErrorKind::Jumped
        | ErrorKind::Unfit
        | ErrorKind::NoShard => Reason::NoShardAvailable,
    }
}
