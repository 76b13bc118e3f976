//! Check of method and content type before a gRPC call is routed.

use http::{HeaderValue, Method, Request, StatusCode, header};
use hyper::body::Incoming;

use crate::{error::ApiError, limits::HEADER_LINES_MAX};

/// The error of a request that is no gRPC call, with its HTTP status. GET is refused, because a cache could answer it
/// twice with the same number.
pub(super) fn reject(request: &Request<Incoming>) -> Option<(StatusCode, ApiError)> {
    if request.method() != Method::POST {
        let error = ApiError::field("method", request.method().as_str(), "POST is allowed");
        return Some((StatusCode::METHOD_NOT_ALLOWED, error));
    }
    let kind = request.headers().get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    if !is_grpc(kind) {
        let kind = String::from_utf8_lossy(kind);
        let error =
            ApiError::field("content-type", &kind, "application/grpc or application/grpc+proto is expected");
        return Some((StatusCode::UNSUPPORTED_MEDIA_TYPE, error));
    }
    let lines = request.headers().len();
    if lines > HEADER_LINES_MAX {
        let bound = format!("at most {HEADER_LINES_MAX} are allowed");
        let error = ApiError::field("headers", &lines.to_string(), bound);
        return Some((StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, error));
    }
    None
}

/// Whether a content type is gRPC with Protobuf messages.
fn is_grpc(kind: &[u8]) -> bool {
    let Some(rest) = kind.strip_prefix(b"application/grpc") else { return false };
    let rest = rest.strip_prefix(b"+proto").unwrap_or(rest);
    matches!(rest, [] | [b';' | b' ', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types() {
        for kind in ["", "+proto", ";charset=utf-8", "+proto; x=y"] {
            assert!(is_grpc(format!("application/grpc{kind}").as_bytes()), "{kind}");
        }
        for kind in
            ["application/grpcfoo", "application/grpc-web", "application/grpc+json", "application/json", ""]
        {
            assert!(!is_grpc(kind.as_bytes()), "{kind}");
        }
    }
}
