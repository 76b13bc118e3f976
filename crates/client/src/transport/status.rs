//! Meaning of a gRPC status: by the reason in its details, or by its code.

use http::{Response, StatusCode};
use sequent_core::{ErrorKind, SourceError};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::{
    error::{Error, Field, PROTOCOL},
    transport::{Refusal, foreign},
};

/// Domain of the reasons in error details.
const DOMAIN: &str = "sequent";

/// What a failed request means for the endpoint and for the caller.
pub(super) fn refusal(status: &Status) -> Refusal {
    let Some(info) = status.get_details_error_info().filter(|info| info.domain == DOMAIN) else {
        return Refusal::Fault(foreign_status(status));
    };
    let error = typed(&info.reason, status);
    match info.reason.as_str() {
        // The server is stopping: others are asked at once, and this one is probed until it is back.
        "DRAINING" => Refusal::Fault(fault(ErrorKind::Unavailable, status)),
        "DEADLINE_EXCEEDED" => Refusal::Fault(fault(ErrorKind::Timeout, status)),
        // `RECOVERY_REQUIRED` may come from a server that still has the layout before a resize. Servers with the new
        // layout can serve.
        "QUOTA_EXCEEDED" | "NO_SHARD_AVAILABLE" | "LEDGER_UNAVAILABLE" | "RECOVERY_REQUIRED" => {
            Refusal::Elsewhere(error)
        }
        _ => Refusal::Final(error),
    }
}

fn typed(reason: &str, status: &Status) -> Error {
    let violations = status.get_details_bad_request().map(|found| found.field_violations).unwrap_or_default();
    let fields = violations.into_iter().map(|found| Field { field: found.field, problem: found.description });
    let retry = status.get_details_retry_info().and_then(|info| info.retry_delay);
    Error::new(reason, status.message()).with_fields(fields.collect()).with_retry_after(retry)
}

/// A status without our details comes from the transport, or from a program in between. Another endpoint may be a
/// server in either case.
pub(super) fn foreign_status(status: &Status) -> SourceError {
    let reason = match status.code() {
        Code::DeadlineExceeded => return fault(ErrorKind::Timeout, status),
        // Also the codes of a response that was cut off, and of a proxy without reachable servers.
        Code::Unknown | Code::Cancelled | Code::Unavailable | Code::ResourceExhausted => {
            return fault(ErrorKind::Unavailable, status);
        }
        Code::Internal if std::error::Error::source(status).is_some() => {
            return fault(ErrorKind::Unavailable, status);
        }
        Code::Unauthenticated => "UNAUTHENTICATED",
        Code::PermissionDenied => "PERMISSION_DENIED",
        _ => PROTOCOL,
    };
    foreign(Error::new(reason, text(status)))
}

/// Whether the request was lost because the server closed the connection gracefully.
pub(super) fn is_graceful_goaway(status: &Status) -> bool {
    causes(status)
        .filter_map(|error| error.downcast_ref::<h2::Error>())
        .any(|error| error.is_go_away() && error.is_remote() && error.reason() == Some(h2::Reason::NO_ERROR))
}

/// Adds a gRPC code to a plain HTTP response. Otherwise its body would be parsed as a message.
pub(super) fn with_grpc_status<B>(mut answer: Response<B>) -> Response<B> {
    let code = match answer.status() {
        StatusCode::OK => return answer,
        StatusCode::UNAUTHORIZED => Code::Unauthenticated,
        StatusCode::FORBIDDEN => Code::PermissionDenied,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => Code::Unavailable,
        // A proxy that reaches no server.
        status if status.is_server_error() => Code::Unavailable,
        _ => Code::Unimplemented,
    };
    let status = Status::new(code, format!("HTTP status {}", answer.status()));
    if !answer.headers().contains_key(Status::GRPC_STATUS) {
        drop(status.add_header(answer.headers_mut()));
    }
    answer
}

fn fault(kind: ErrorKind, status: &Status) -> SourceError {
    SourceError::new(kind, text(status))
}

/// The message with its causes.
fn text(status: &Status) -> String {
    causes(status).map(ToString::to_string).fold(status.message().to_owned(), |text, cause| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

fn causes(status: &Status) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(std::error::Error::source(status), |error| error.source())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::HashMap, time::Duration};
    use tonic_types::ErrorDetails;

    fn status(code: Code, reason: &str) -> Status {
        let mut details = ErrorDetails::with_error_info(reason, DOMAIN, HashMap::new());
        details.add_bad_request_violation("count", "is 0: 1 to 10000 are allowed");
        details.set_retry_info(Some(Duration::from_secs(1)));
        Status::with_error_details(code, "said", details)
    }

    #[test]
    fn reasons_decide_whom_it_concerns() {
        for reason in ["NO_SHARD_AVAILABLE", "LEDGER_UNAVAILABLE", "QUOTA_EXCEEDED"] {
            let Refusal::Elsewhere(error) = refusal(&status(Code::Unavailable, reason)) else {
                panic!("{reason}")
            };
            assert!(error.is_retryable() && error.retry_after() == Some(Duration::from_secs(1)), "{reason}");
        }
        let Refusal::Elsewhere(error) = refusal(&status(Code::FailedPrecondition, "RECOVERY_REQUIRED"))
        else {
            panic!()
        };
        assert!(!error.is_retryable(), "where all say so, a person must act");
        let Refusal::Final(error) = refusal(&status(Code::InvalidArgument, "INVALID_ARGUMENT")) else {
            panic!()
        };
        assert_eq!(error.fields()[0].field, "count");
        assert!(matches!(refusal(&status(Code::Unavailable, "DRAINING")), Refusal::Fault(_)));
    }

    #[test]
    fn what_is_no_word_of_ours_is_the_endpoints_fault() {
        let reason_of = |code: Code| {
            let Refusal::Fault(fault) = refusal(&Status::new(code, "x")) else { panic!("{code:?}") };
            assert_eq!(fault.kind(), ErrorKind::Unavailable, "{code:?}");
            let error = std::error::Error::source(&fault)?.downcast_ref::<Error>()?.clone();
            assert!(!error.is_retryable(), "{error:?}");
            Some(error.reason().to_owned())
        };
        for code in [Code::Unknown, Code::Cancelled, Code::Unavailable, Code::ResourceExhausted] {
            assert_eq!(reason_of(code), None, "{code:?}");
        }
        for code in [Code::Unimplemented, Code::Internal, Code::NotFound, Code::OutOfRange] {
            assert_eq!(reason_of(code).as_deref(), Some(PROTOCOL), "{code:?}");
        }
        assert_eq!(reason_of(Code::PermissionDenied).as_deref(), Some("PERMISSION_DENIED"));
        let mut broken = Status::new(Code::Internal, "x");
        broken.set_source(std::sync::Arc::new(std::io::Error::other("reset")));
        assert!(
            std::error::Error::source(&foreign_status(&broken)).is_none(),
            "the transport's, not an answer"
        );
    }
}
