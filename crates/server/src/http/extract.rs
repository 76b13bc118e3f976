//! Extractors: the name of a sequence in a path, and the body.

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{FromRequest, FromRequestParts, Request, rejection::ExtensionRejection},
    http::request::Parts,
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, Uri, header};
use percent_encoding::percent_decode_str;

use crate::{
    error::ApiError,
    http::api::Api,
    limits::{BODY_MAX, body_reader::BodyReader, pending_quota::ConnectionShare},
};

/// Segment of a path that is the name: `/v1/sequences/{name}`.
const NAME_SEGMENT: usize = 3;

/// Name of a sequence: percent-decoded, but not validated.
pub(super) struct Name(pub(super) String);

impl FromRequestParts<Arc<Api>> for Name {
    type Rejection = ApiError;

    /// Unlike axum's `Path`, its error shows the segment as it was sent. The path is split before it is decoded, so
    /// `%2f` stays within a name.
    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, ApiError> {
        name_of(&parts.uri).map(Self).map_err(|error| api.next_metrics.refused(error))
    }
}

/// The name in a path.
pub(crate) fn name_of(uri: &Uri) -> Result<String, ApiError> {
    let segment = uri.path().split('/').nth(NAME_SEGMENT).unwrap_or_default();
    let name = percent_decode_str(segment).decode_utf8();
    let name =
        name.map_err(|_| ApiError::field("name", segment, "a name in UTF-8, percent-encoded, is expected"));
    Ok(name?.into_owned())
}

/// Body of a request, not read yet.
pub(crate) struct RequestBody {
    body: BodyReader<Body>,
    kind: Option<HeaderValue>,
}

impl RequestBody {
    /// Reads the whole body, within the limits on size, time and memory.
    pub(crate) async fn read(self) -> Result<Bytes, ApiError> {
        let body = self.body.read_all(BODY_MAX).await?;
        let kind = self.kind.as_ref().map_or(&b""[..], HeaderValue::as_bytes);
        // A page of another site may send texts and forms unasked, but no JSON.
        if body.is_empty() || is_json(kind) {
            return Ok(body);
        }
        let error =
            ApiError::field("content-type", &String::from_utf8_lossy(kind), "application/json is expected");
        Err(error.with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE))
    }
}

/// Whether a content type is JSON, whatever its parameters are.
fn is_json(kind: &[u8]) -> bool {
    let essence = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

impl<S: Send + Sync> FromRequest<S> for RequestBody {
    type Rejection = ExtensionRejection;

    /// Needs the connection's share of the pending quota as an extension of the request.
    async fn from_request(request: Request, state: &S) -> Result<Self, ExtensionRejection> {
        let (mut parts, body) = request.into_parts();
        let Extension(share) =
            Extension::<Arc<ConnectionShare>>::from_request_parts(&mut parts, state).await?;
        let kind = parts.headers.remove(header::CONTENT_TYPE);
        Ok(Self { body: BodyReader::new("body", (None, body), share).with_head(&parts.headers), kind })
    }
}
