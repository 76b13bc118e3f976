//! Errors of all APIs: one table of reasons, rendered as a gRPC status, as an HTTP problem document or as a line of the
//! protocol of Redis.

mod problem;
mod resp;
mod status;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, time::Duration};

use http::StatusCode;
use sequent_core::SequenceName;
use sequent_engine::{BURN, EngineError, QuotaFault, Reason, SlotCause, config::without_secret};
use serde::Serialize;

/// The detail of an error with the name of a principal.
pub(crate) const PRINCIPAL: &str = "principal";

/// How long a client is told to wait before a retry, if nothing better is known.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Limit on the bytes of a caller's value in an error.
const VALUE_SHOWN_MAX: usize = 128;

/// Limit on slots in one error. The error counts the rest. gRPC sends them in a header, and many peers accept at most
/// 8 KiB of headers.
const SLOTS_SHOWN_MAX: usize = 32;

/// A field that is out of bounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(clippy::struct_field_names, reason = "the names are those of the JSON in every protocol")]
struct Field {
    field: Cow<'static, str>,
    value: String,
    bound: Cow<'static, str>,
}

/// A failed request.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    reason: Reason,
    text: String,
    fields: Vec<Field>,
    slots: Vec<SlotCause>,
    quota: Option<Box<QuotaFault>>,
    /// HTTP status of a transport error, which the table of reasons does not have.
    status: Option<StatusCode>,
    /// Facts for programs: `why`, `verb`, `sequence`, `principal`.
    details: Vec<(&'static str, String)>,
}

impl ApiError {
    pub(crate) fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self {
            reason,
            text: text.into(),
            fields: Vec::new(),
            slots: Vec::new(),
            quota: None,
            status: None,
            details: Vec::new(),
        }
    }

    /// A field out of bounds. No number was consumed.
    pub(crate) fn field(
        field: impl Into<Cow<'static, str>>,
        value: &str,
        bound: impl Into<Cow<'static, str>>,
    ) -> Self {
        let field = Field { field: shortened(field.into()), value: shown(value), bound: bound.into() };
        let text = format!("{} is {:?}: {}", field.field, field.value, field.bound);
        Self { fields: vec![field], ..Self::new(Reason::InvalidArgument, text) }
    }

    /// A field whose value is not for this caller. No number was consumed.
    pub(crate) fn denied(field: &'static str, value: &str, bound: &'static str) -> Self {
        Self { reason: Reason::PermissionDenied, ..Self::field(field, value, bound) }
    }

    /// The same error with an HTTP status of the transport.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status: Some(status), ..self }
    }

    /// The same error with a fact for programs.
    pub(crate) fn with_detail(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.details.push((key, cut(&value.into(), VALUE_SHOWN_MAX)));
        self
    }

    /// A fact for programs.
    pub(crate) fn detail(&self, key: &str) -> Option<&str> {
        self.details.iter().find_map(|(known, value)| (*known == key).then_some(value.as_str()))
    }

    /// A quota that is used up.
    pub(crate) fn over_quota(text: impl Into<String>, quota: QuotaFault) -> Self {
        Self { quota: Some(Box::new(quota)), ..Self::new(Reason::QuotaExceeded, text) }
    }

    /// Whether a quota of the caller's principal is used up, and no bound of the server or of a key is reached.
    pub(crate) fn is_quota_of_principal(&self) -> bool {
        self.quota.as_ref().is_some_and(|quota| quota.quota != BURN)
    }

    /// No numbers within the deadline.
    pub(crate) fn late(name: &str) -> Self {
        Self::new(Reason::DeadlineExceeded, format!("no numbers of {name} came in time"))
    }

    /// An invalid name.
    pub(crate) fn name(field: &'static str, text: &str) -> Self {
        match text.parse::<SequenceName>() {
            Err(error) => Self::field(field, text, error.to_string()),
            Ok(_) => Self::field(field, text, "a name is expected"),
        }
    }

    /// The text of the error.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn reason(&self) -> Reason {
        self.reason
    }

    /// How long the client is to wait before it sends the request again; `None` if that would not help.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let after = self.quota.as_ref().map_or(RETRY_AFTER, |quota| quota.retry_after);
        self.reason.retry().is_retryable().then_some(after)
    }

    /// The slots to list, and how many more there are.
    fn listed(&self) -> (&[SlotCause], Option<usize>) {
        let (listed, more) = self.slots.split_at(self.slots.len().min(SLOTS_SHOWN_MAX));
        (listed, Some(more.len()).filter(|more| *more > 0))
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        let fields = error.fields().iter().map(|error| Field {
            field: error.field.clone(),
            value: shown(&error.value),
            bound: Cow::Owned(error.bound.clone()),
        });
        let (fields, quota) = (fields.collect(), error.quota().cloned().map(Box::new));
        Self { fields, quota, slots: error.slots(), ..Self::new(error.reason(), error.to_string()) }
    }
}

/// A caller's value, shortened for an error.
fn shown(value: &str) -> String {
    cut(&without_secret(value.to_owned()), VALUE_SHOWN_MAX)
}

/// The first bytes of a text, and its length if it was cut.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}… ({} bytes)", &text[..end], text.len())
}

fn shortened(text: Cow<'static, str>) -> Cow<'static, str> {
    if text.len() <= VALUE_SHOWN_MAX { text } else { Cow::Owned(shown(&text)) }
}
