//! Extractors: the name of a sequence in a path, and the body.

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{FromRequest, FromRequestParts, Request, rejection::ExtensionRejection},
    http::request::Parts,
};
use bytes::Bytes;
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
        let segment = parts.uri.path().split('/').nth(NAME_SEGMENT).unwrap_or_default();
        let refused = |_| {
            let bound = "a name in UTF-8, percent-encoded, is expected";
            api.next_metrics.refused(ApiError::field("name", segment, bound))
        };
        let name = percent_decode_str(segment).decode_utf8().map_err(refused)?;
        Ok(Self(name.into_owned()))
    }
}

/// Body of a request, not read yet.
pub(super) struct RequestBody(BodyReader<Body>);

impl RequestBody {
    /// Reads the whole body, within the limits on size, time and memory.
    pub(super) async fn read(self) -> Result<Bytes, ApiError> {
        self.0.read_all(BODY_MAX).await
    }
}

impl<S: Send + Sync> FromRequest<S> for RequestBody {
    type Rejection = ExtensionRejection;

    /// Needs the connection's share of the pending quota as an extension of the request.
    async fn from_request(request: Request, state: &S) -> Result<Self, ExtensionRejection> {
        let (mut parts, body) = request.into_parts();
        let Extension(share) =
            Extension::<Arc<ConnectionShare>>::from_request_parts(&mut parts, state).await?;
        Ok(Self(BodyReader::new("body", (None, body), share)))
    }
}
