//! Errors of all protocols: one table of reasons, rendered as a gRPC status or as an HTTP problem document.

use std::{borrow::Cow, collections::HashMap};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use sequent_core::SequenceName;
use sequent_engine::{EngineError, Reason, SlotCause};
use serde::Serialize;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::limits::{RETRY_AFTER, SLOTS_SHOWN_MAX, STATUS_FIELDS_MAX, STATUS_SHOWN_MAX, VALUE_SHOWN_MAX};

/// Domain of the reasons in gRPC error details.
const DOMAIN: &str = "sequent";

/// A field that is out of bounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(clippy::struct_field_names, reason = "the names are those of the JSON in every protocol")]
pub(crate) struct Field {
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
    /// HTTP status of a transport error, which the table of reasons does not have.
    status: Option<StatusCode>,
}

impl ApiError {
    pub(crate) fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into(), fields: Vec::new(), slots: Vec::new(), status: None }
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

    /// The same error with an HTTP status of the transport.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status: Some(status), ..self }
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
    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn reason(&self) -> Reason {
        self.reason
    }

    /// The slots to list, and how many more there are.
    fn listed(&self) -> (&[SlotCause], Option<usize>) {
        let (listed, more) = self.slots.split_at(self.slots.len().min(SLOTS_SHOWN_MAX));
        (listed, Some(more.len()).filter(|more| *more > 0))
    }

    /// gRPC status with the code of the table, and with the reason and the fields as details.
    pub(crate) fn into_status(self) -> Status {
        let code = code(self.reason);
        self.into_status_of(code)
    }

    /// gRPC status with another code, for errors of the protocol that the table does not have.
    pub(crate) fn into_status_of(self, code: Code) -> Status {
        let mut details = ErrorDetails::new();
        let (listed, more) = self.listed();
        let of_slot = |slot: &SlotCause| {
            let SlotCause { slot, kind, cause } = slot;
            [(format!("slot.{slot}"), kind.to_string()), (format!("cause.{slot}"), (*cause).to_owned())]
        };
        let mut slots: HashMap<String, String> = listed.iter().flat_map(of_slot).collect();
        slots.extend(more.map(|more| ("slots.more".to_owned(), more.to_string())));
        details.set_error_info(self.reason.as_str(), DOMAIN, slots);
        // All fields share the limit on the text.
        let each = STATUS_SHOWN_MAX / self.fields.len().clamp(1, STATUS_FIELDS_MAX);
        for field in self.fields.into_iter().take(STATUS_FIELDS_MAX) {
            let description = format!("is {:?}: {}", field.value, field.bound);
            details.add_bad_request_violation(field.field, cut(&description, each));
        }
        if self.reason.retry().is_retryable() {
            details.set_retry_info(Some(RETRY_AFTER));
        }
        Status::with_error_details(code, cut(&self.text, STATUS_SHOWN_MAX), details)
    }

    /// HTTP response with the status of the table and a problem document.
    pub(crate) fn into_response(self) -> Response<Full<Bytes>> {
        let table = StatusCode::from_u16(self.reason.http()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let status = self.status.unwrap_or(table);
        let slot = |slot: &SlotCause| Slot {
            slot: slot.slot.to_string(),
            kind: slot.kind.to_string(),
            cause: slot.cause,
        };
        let (listed, slots_more) = self.listed();
        let problem = Problem {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: &self.text,
            reason: self.reason.as_str(),
            errors: &self.fields,
            slots: listed.iter().map(slot).collect(),
            slots_more,
        };
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // The rest of the body is unread: the next request of the connection would begin within it.
        if matches!(status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self.reason.retry().is_retryable() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER.as_secs()));
        }
        response
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        let fields = error.fields().iter().map(|error| Field {
            field: error.field.clone(),
            value: shown(&error.value),
            bound: Cow::Owned(error.bound.clone()),
        });
        let fields = fields.collect();
        Self { fields, slots: error.slots(), ..Self::new(error.reason(), error.to_string()) }
    }
}

/// Problem document of RFC 9457.
#[derive(Serialize)]
struct Problem<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'a str,
    status: u16,
    detail: &'a str,
    reason: &'static str,
    errors: &'a [Field],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slots: Vec<Slot>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slots_more: Option<usize>,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names, reason = "the names are those of the JSON in every protocol")]
struct Slot {
    slot: String,
    kind: String,
    cause: &'static str,
}

/// The gRPC code of a reason.
fn code(reason: Reason) -> Code {
    match reason.grpc() {
        "INVALID_ARGUMENT" => Code::InvalidArgument,
        "NOT_FOUND" => Code::NotFound,
        "UNAUTHENTICATED" => Code::Unauthenticated,
        "PERMISSION_DENIED" => Code::PermissionDenied,
        "RESOURCE_EXHAUSTED" => Code::ResourceExhausted,
        "UNAVAILABLE" => Code::Unavailable,
        "DEADLINE_EXCEEDED" => Code::DeadlineExceeded,
        "FAILED_PRECONDITION" => Code::FailedPrecondition,
        _ => Code::Unknown,
    }
}

/// A caller's value, shortened for an error.
fn shown(value: &str) -> String {
    cut(value, VALUE_SHOWN_MAX)
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

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use sequent_core::{ErrorKind, SlotFailure, SourceError, Why};

    use super::*;

    #[test]
    fn every_reason_has_a_code_and_a_status() {
        for reason in Reason::ALL {
            assert_ne!(code(reason), Code::Unknown, "{reason}");
            let response = ApiError::new(reason, "x").into_response();
            assert_eq!(response.status().as_u16(), reason.http(), "{reason}");
            let retry = response.headers().contains_key(header::RETRY_AFTER);
            let status = ApiError::new(reason, "x").into_status();
            assert_eq!(status.get_details_error_info().unwrap().reason, reason.as_str());
            assert_eq!(
                (retry, status.get_details_retry_info().is_some()),
                (reason.retry().is_retryable(), reason.retry().is_retryable()),
            );
        }
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let text = "ä".repeat(400);
        assert_eq!(shown(&text), format!("{}… (800 bytes)", "ä".repeat(64)));
    }
    /// Failure of `count` slots; neighbours have different causes.
    fn no_slot(count: u16) -> ApiError {
        let failure = |slot: u16| {
            let (kind, why) = match slot % 2 {
                0 => (ErrorKind::Unavailable, Some(Why::ConnectionRefused)),
                _ => (ErrorKind::Unavailable, Some(Why::EvictedByHand)),
            };
            SlotFailure { slot, kind, why, detail: "10.0.0.7".to_owned() }
        };
        let error = SourceError::no_shard((0..count).map(failure).collect());
        EngineError::of_source(&"order".parse().unwrap(), error).into()
    }

    #[tokio::test]
    async fn each_slot_is_named_with_its_cause() {
        let info = no_slot(2).into_status().get_details_error_info().unwrap();
        let metadata = |key: &str| info.metadata.get(key).map(String::as_str);
        assert_eq!(
            (metadata("slot.1"), metadata("cause.1")),
            (Some("unavailable"), Some("evicted by an operator"))
        );
        assert_eq!((metadata("cause.0"), metadata("slots.more")), (Some("connection refused"), None));
        let problem = problem(no_slot(2)).await;
        let slots = serde_json::json!([
            { "slot": "0", "kind": "unavailable", "cause": "connection refused" },
            { "slot": "1", "kind": "unavailable", "cause": "evicted by an operator" },
        ]);
        assert_eq!(problem["slots"], slots);
        let detail = "no slot can serve order: slot 0 connection refused, slot 1 evicted by an operator";
        assert_eq!(problem["detail"], detail);
        assert!(problem.get("slots_more").is_none(), "{problem}");
    }

    #[tokio::test]
    async fn an_error_about_very_many_slots_stays_small() {
        let status = no_slot(1024).into_status();
        let info = status.get_details_error_info().unwrap();
        assert_eq!(info.metadata.get("slots.more").map(String::as_str), Some("992"));
        let bytes = status.details().len() + status.message().len();
        assert!(bytes < 5000, "{bytes} bytes: base64 makes a third more of it, and 8 KiB must hold it");
        let problem = problem(no_slot(1024)).await;
        assert_eq!((problem["slots"].as_array().unwrap().len(), &problem["slots_more"]), (32, &992.into()));
    }

    #[test]
    fn a_status_fits_into_the_headers_of_every_client() {
        let long = "号".repeat(40_000);
        let mut error = ApiError::field("template", "x", long.clone());
        error.fields = vec![error.fields[0].clone(); 40];
        error.text = long;
        let headers = error.into_status().into_http::<()>().headers().clone();
        let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum();
        assert!(bytes < 8 * 1024, "{bytes} bytes of headers");
        let info = ApiError::new(Reason::DefinitionConflict, "x".repeat(100_000)).into_status();
        assert_eq!(info.get_details_error_info().unwrap().reason, "DEFINITION_CONFLICT");
        assert!(info.message().ends_with("x… (100000 bytes)"), "{}", info.message());
    }

    async fn problem(error: ApiError) -> serde_json::Value {
        let body = error.into_response().into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    }
}
