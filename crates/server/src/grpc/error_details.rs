//! Errors that the protocol's own machinery made: they get the reason that every error of this door carries.

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::Frame;
use sequent_engine::Reason;
use tonic::{Code, Status, body::Body};

use crate::{service::api_error::ApiError, telemetry::request_metrics::RequestMetrics};

/// Where a status carries its details.
const DETAILS: &str = "grpc-status-details-bin";

/// The same answer of the numbers' own service; an error without details gets the table's reason, and is counted, since
/// no method saw it. What can't be decoded is an argument out of bounds, whatever code the machinery has for it; other
/// codes stay as they are.
pub(crate) fn with_details(response: Response<Body>, metrics: &RequestMetrics) -> Response<Body> {
    let Some(status) = status_without_details(response.headers()) else { return response };
    // A client that went away before its message was there whole has asked nothing, and hears no answer.
    if status.code() == Code::Cancelled {
        return response;
    }
    let error = metrics.refused(api_error(&status));
    match status.code() {
        Code::Internal | Code::OutOfRange | Code::InvalidArgument => error.into_status(),
        code => error.into_status_of(code),
    }
    .into_http()
}

/// The same answer of a service beside the numbers, whose codes are those of its own protocol.
pub(crate) fn auxiliary_with_details(response: Response<Body>) -> Response<Body> {
    match status_without_details(response.headers()) {
        Some(status) => api_error(&status).into_status_of(status.code()).into_http(),
        None => response,
    }
}

/// The same for the end of a stream.
pub(crate) fn trailers_with_details(frame: Frame<Bytes>) -> Frame<Bytes> {
    match frame.trailers_ref().and_then(status_without_details) {
        Some(status) => Frame::trailers(trailers(&api_error(&status).into_status_of(status.code()))),
        None => frame,
    }
}

/// What ends a stream with a status.
pub(crate) fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    if status.add_header(&mut trailers).is_err() {
        trailers.insert(Status::GRPC_STATUS, (status.code() as i32).into());
    }
    trailers
}

/// An error that carries no reason, if these headers tell one.
fn status_without_details(headers: &HeaderMap) -> Option<Status> {
    if !headers.contains_key(Status::GRPC_STATUS) || headers.contains_key(DETAILS) {
        return None;
    }
    Status::from_header_map(headers).filter(|status| status.code() != Code::Ok)
}

fn api_error(status: &Status) -> ApiError {
    match status.code() {
        Code::Unavailable => ApiError::new(Reason::Draining, status.message()),
        Code::DeadlineExceeded => ApiError::new(Reason::DeadlineExceeded, status.message()),
        Code::ResourceExhausted => ApiError::new(Reason::QuotaExceeded, status.message()),
        _ => {
            let bound = "a message of the method's type, within its bounds";
            ApiError::field("message", status.message(), bound)
        }
    }
}
