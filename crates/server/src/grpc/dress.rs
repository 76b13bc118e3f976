//! Errors that the protocol's own machinery made: they get the reason that every error of this door carries.

use http::Response;
use tonic::{Code, Status, body::Body};

use crate::{fault::Fault, meter::Meter};

/// Where a status carries its details.
const DETAILS: &str = "grpc-status-details-bin";

/// The same answer; an error without details gets the table's reason, and is counted, since no method saw it. What
/// can't be decoded is an argument out of bounds, whatever code the machinery has for it; other codes stay as they are.
pub(crate) fn dressed(response: Response<Body>, meter: &Meter) -> Response<Body> {
    let headers = response.headers();
    if !headers.contains_key(Status::GRPC_STATUS) || headers.contains_key(DETAILS) {
        return response;
    }
    let Some(status) = Status::from_header_map(headers) else { return response };
    if status.code() == Code::Ok {
        return response;
    }
    let fault =
        Fault::field("message", status.message(), "a message of the method's type, within its bounds");
    let fault = meter.refused(fault);
    match status.code() {
        Code::Internal | Code::OutOfRange | Code::InvalidArgument => fault.into_status(),
        code => fault.into_status_of(code),
    }
    .into_http()
}
