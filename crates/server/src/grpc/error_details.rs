//! Error details for statuses that tonic made itself: each gets a reason from the table, as every other error has.

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::Frame;
use sequent_engine::Reason;
use tonic::{Code, Status};

use crate::{error::ApiError, telemetry::request_metrics::RequestMetrics};

/// Header with the details of a status.
const DETAILS: &str = "grpc-status-details-bin";

/// Adds details to an error of `Sequences` or `Definitions` that tonic made, and counts it, since no method did. A
/// message that can't be decoded becomes `INVALID_ARGUMENT`; other codes are kept.
pub(crate) fn with_details<B: Default>(response: Response<B>, metrics: &RequestMetrics) -> Response<B> {
    let Some(status) = status_without_details(response.headers()) else { return response };
    // The client cancelled before its message was complete. Nothing was requested, and nobody reads the response.
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

/// Adds details to an error of the health or reflection service. Its code is kept, since its own protocol defines it.
pub(crate) fn auxiliary_with_details<B: Default>(response: Response<B>) -> Response<B> {
    match status_without_details(response.headers()) {
        Some(status) => api_error(&status).into_status_of(status.code()).into_http(),
        None => response,
    }
}

/// Adds details to the trailers of a stream.
pub(crate) fn trailers_with_details(frame: Frame<Bytes>) -> Frame<Bytes> {
    match frame.trailers_ref().and_then(status_without_details) {
        Some(status) => Frame::trailers(trailers(&api_error(&status).into_status_of(status.code()))),
        None => frame,
    }
}

/// Trailers with a status.
pub(crate) fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    if status.add_header(&mut trailers).is_err() {
        trailers.insert(Status::GRPC_STATUS, (status.code() as i32).into());
    }
    trailers
}

/// The error in these headers, if it has no details.
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
