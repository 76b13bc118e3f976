//! An error as an HTTP response with a problem document (RFC 9457).

use std::collections::BTreeMap;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use sequent_engine::{QuotaFault, Reason, SlotCause};
use serde::Serialize;

use crate::error::{ApiError, Field};

/// Problem document.
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
    #[serde(flatten)]
    details: BTreeMap<&'static str, &'a str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    quota: Option<LimitReached<'a>>,
}

/// The limit that refused the request.
#[derive(Serialize)]
struct LimitReached<'a> {
    quota: &'static str,
    of: &'a str,
    limit: &'a str,
    retry_after_ms: u64,
}

impl<'a> From<&'a QuotaFault> for LimitReached<'a> {
    fn from(fault: &'a QuotaFault) -> Self {
        let QuotaFault { quota, of, limit, retry_after } = fault;
        Self { quota, of, limit, retry_after_ms: rounded_up(retry_after.as_nanos(), 1_000_000) }
    }
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names, reason = "the names are those of the JSON in every protocol")]
struct Slot {
    slot: String,
    kind: String,
    cause: &'static str,
}

impl IntoResponse for ApiError {
    /// The status is the transport's, or that of the table of reasons.
    fn into_response(self) -> Response {
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
            details: self.details.iter().map(|(key, value)| (*key, value.as_str())).collect(),
            quota: self.quota.as_deref().map(LimitReached::from),
        };
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let fixed = [(header::CONTENT_TYPE, "application/problem+json"), (header::CACHE_CONTROL, "no-store")];
        let mut response = (status, fixed, body).into_response();
        let headers = response.headers_mut();
        // The rest of the body is unread: the next request of the connection would begin within it.
        if matches!(status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(after) = self.retry_after() {
            // The header has whole seconds only.
            let seconds = rounded_up(after.as_nanos(), 1_000_000_000);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.reason == Reason::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A time in a larger unit; at least one of it.
fn rounded_up(nanos: u128, unit: u128) -> u64 {
    u64::try_from(nanos.div_ceil(unit)).unwrap_or(u64::MAX).max(1)
}
