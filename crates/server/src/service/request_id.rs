//! Request ids in log lines and responses: the caller's `x-request-id`, or a generated one.

use std::{
    fmt::Write,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{extract::Request, middleware::Next, response::Response};
use http::{HeaderMap, HeaderName, HeaderValue};
use sequent_core::{Entropy, OsEntropy};
use tonic::Status;
use tracing::{Instrument, Span};

use crate::{auth::Token, telemetry::traces};

/// Header of HTTP, metadata of gRPC.
const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Limit on the length of a caller's id, in bytes.
const LENGTH_MAX: usize = 128;

/// First part of generated ids. It differs between processes.
static PROCESS: LazyLock<u64> = LazyLock::new(|| OsEntropy.bits());

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Id of a request.
struct RequestId {
    value: HeaderValue,
    is_generated: bool,
}

/// The caller's id: visible ASCII of at most [`LENGTH_MAX`] bytes. Any other value counts as absent, and so does a token: an id
/// is logged.
pub(crate) fn from_headers(headers: &HeaderMap) -> Option<&HeaderValue> {
    let value = headers.get(HEADER)?;
    let bytes = value.as_bytes();
    let fits = (1..=LENGTH_MAX).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    value.to_str().ok().filter(|text| fits && Token::hash_of(text).is_none()).map(|_| value)
}

/// Adds the caller's id to a response.
pub(crate) fn echo(value: Option<&HeaderValue>, answer: &mut HeaderMap) {
    if let Some(value) = value {
        answer.insert(HEADER, value.clone());
    }
}

/// Adds the caller's id, or a generated one, to the response to a request that is refused before its route.
pub(crate) fn mark_failed(headers: &HeaderMap, answer: &mut HeaderMap) {
    RequestId::from_headers_or_generate(headers).add_to(answer, true);
}

/// Layer: runs a request in its span, and adds its id to the response.
pub(crate) async fn identify(request: Request, next: Next) -> Response {
    let id = RequestId::from_headers_or_generate(request.headers());
    let span = id.span(request.headers());
    let mut response = next.run(request).instrument(span).await;
    let failed = !response.status().is_success() || response.headers().contains_key(Status::GRPC_STATUS);
    id.add_to(response.headers_mut(), failed);
    response
}

impl RequestId {
    /// The caller's id, or a generated one.
    fn from_headers_or_generate(headers: &HeaderMap) -> Self {
        match from_headers(headers) {
            Some(value) => Self { value: value.clone(), is_generated: false },
            None => Self { value: generate(), is_generated: true },
        }
    }

    /// Span of the request's log lines, present at every log level. It belongs to the trace that the headers name.
    fn span(&self, headers: &HeaderMap) -> Span {
        let span = tracing::error_span!("request", id = self.value.to_str().unwrap_or_default());
        traces::join(&span, headers);
        span
    }

    /// Adds the id to a response if the caller sent one, or if the request failed, so that its log lines can be
    /// found.
    fn add_to(self, answer: &mut HeaderMap, failed: bool) {
        if failed || !self.is_generated {
            answer.insert(HEADER, self.value);
        }
    }
}

/// Span of a request whose protocol carries no id: a generated one.
pub(crate) fn generated_span() -> Span {
    let id = generate();
    tracing::error_span!("request", id = id.to_str().unwrap_or_default())
}

fn generate() -> HeaderValue {
    let mut text = String::with_capacity(32);
    // Writing to a string can't fail. If it did, the id would be shorter.
    let _ = write!(text, "{:016x}-{:x}", *PROCESS, COUNT.fetch_add(1, Ordering::Relaxed));
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_callers_is_bounded_and_else_one_is_made() {
        let named = |value: &str| HeaderMap::from_iter([(HEADER, HeaderValue::try_from(value).unwrap())]);
        for good in ["7", "4bf92f35-77b3-4da6", &"x".repeat(LENGTH_MAX)] {
            assert_eq!(from_headers(&named(good)).unwrap(), good);
        }
        for bad in ["", "two words", "tab\there", &"x".repeat(LENGTH_MAX + 1)] {
            assert_eq!(from_headers(&named(bad)), None, "{bad:?}");
            let (one, two) = (
                RequestId::from_headers_or_generate(&named(bad)),
                RequestId::from_headers_or_generate(&named(bad)),
            );
            assert!(one.is_generated && one.value != two.value && !one.value.is_empty());
        }
    }
}
