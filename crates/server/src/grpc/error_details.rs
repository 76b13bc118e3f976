//! Errors that the protocol's own machinery made: they get the reason that every error of this door carries.

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::Frame;
use sequent_engine::Reason;
use tonic::{Code, Status, body::Body};

use crate::{service::api_error::Fault, telemetry::request_metrics::Meter};

/// Where a status carries its details.
const DETAILS: &str = "grpc-status-details-bin";

/// The same answer of the numbers' own service; an error without details gets the table's reason, and is counted, since
/// no method saw it. What can't be decoded is an argument out of bounds, whatever code the machinery has for it; other
/// codes stay as they are.
pub(crate) fn dressed(response: Response<Body>, meter: &Meter) -> Response<Body> {
    let Some(status) = naked(response.headers()) else { return response };
    // A client that went away before its message was there whole has asked nothing, and hears no answer.
    if status.code() == Code::Cancelled {
        return response;
    }
    let fault = meter.refused(fault(&status));
    match status.code() {
        Code::Internal | Code::OutOfRange | Code::InvalidArgument => fault.into_status(),
        code => fault.into_status_of(code),
    }
    .into_http()
}

/// The same answer of a service beside the numbers, whose codes are those of its own protocol.
pub(crate) fn dressed_aside(response: Response<Body>) -> Response<Body> {
    match naked(response.headers()) {
        Some(status) => fault(&status).into_status_of(status.code()).into_http(),
        None => response,
    }
}

/// The same for the end of a stream.
pub(crate) fn dressed_end(frame: Frame<Bytes>) -> Frame<Bytes> {
    match frame.trailers_ref().and_then(naked) {
        Some(status) => Frame::trailers(trailers(&fault(&status).into_status_of(status.code()))),
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
fn naked(headers: &HeaderMap) -> Option<Status> {
    if !headers.contains_key(Status::GRPC_STATUS) || headers.contains_key(DETAILS) {
        return None;
    }
    Status::from_header_map(headers).filter(|status| status.code() != Code::Ok)
}

fn fault(status: &Status) -> Fault {
    match status.code() {
        Code::Unavailable => Fault::new(Reason::Draining, status.message()),
        Code::DeadlineExceeded => Fault::new(Reason::DeadlineExceeded, status.message()),
        Code::ResourceExhausted => Fault::new(Reason::QuotaExceeded, status.message()),
        _ => {
            let bound = "a message of the method's type, within its bounds";
            Fault::field("message", status.message(), bound)
        }
    }
}
