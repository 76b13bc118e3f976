//! What a gRPC status says: by the reason that every error of a server carries, or by the protocol's code.

use sequent_core::{ErrorKind, SourceError};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::{
    error::{Error, Field, PROTOCOL},
    transport::Refusal,
};

/// Whose words the reasons are.
const DOMAIN: &str = "sequent";

/// What a failed request means for the endpoint and for the caller.
pub(super) fn refusal(status: &Status) -> Refusal {
    let Some(info) = status.get_details_error_info().filter(|info| info.domain == DOMAIN) else {
        return bare(status);
    };
    let error = typed(&info.reason, status);
    match info.reason.as_str() {
        // It goes away: the others at once, and it is asked again when it is back.
        "DRAINING" => Refusal::Fault(fault(ErrorKind::Unavailable, status)),
        "DEADLINE_EXCEEDED" => Refusal::Fault(fault(ErrorKind::Timeout, status)),
        "QUOTA_EXCEEDED" | "NO_SHARD_AVAILABLE" | "LEDGER_UNAVAILABLE" => Refusal::Elsewhere(error),
        _ => Refusal::Final(error),
    }
}

/// A failed check.
pub(super) fn unusable(status: &Status) -> SourceError {
    fault(ErrorKind::Unavailable, status)
}

fn typed(reason: &str, status: &Status) -> Error {
    let violations = status.get_details_bad_request().map(|found| found.field_violations).unwrap_or_default();
    let fields = violations.into_iter().map(|found| Field { field: found.field, problem: found.description });
    let retry = status.get_details_retry_info().and_then(|info| info.retry_delay);
    Error::new(reason, status.message()).with_fields(fields.collect()).with_retry_after(retry)
}

/// Not a word of ours: the transport's, or somebody's in between.
fn bare(status: &Status) -> Refusal {
    match status.code() {
        Code::DeadlineExceeded => Refusal::Fault(fault(ErrorKind::Timeout, status)),
        Code::Unimplemented | Code::OutOfRange | Code::DataLoss => Refusal::Final(Error::new(
            PROTOCOL,
            format!("no answer of a server of sequences: {}", text(status)),
        )),
        Code::Unauthenticated => Refusal::Final(Error::new("UNAUTHENTICATED", status.message())),
        Code::PermissionDenied => Refusal::Final(Error::new("PERMISSION_DENIED", status.message())),
        _ => Refusal::Fault(fault(ErrorKind::Unavailable, status)),
    }
}

fn fault(kind: ErrorKind, status: &Status) -> SourceError {
    SourceError::new(kind, text(status))
}

/// The message, and what lay beneath it.
fn text(status: &Status) -> String {
    let mut text = status.message().to_owned();
    let mut beneath = std::error::Error::source(status);
    while let Some(error) = beneath {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        beneath = error.source();
    }
    text
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
        let Refusal::Final(error) = refusal(&status(Code::InvalidArgument, "INVALID_ARGUMENT")) else {
            panic!()
        };
        assert_eq!(error.fields()[0].field, "count");
        assert!(matches!(refusal(&status(Code::Unavailable, "DRAINING")), Refusal::Fault(_)));
    }

    #[test]
    fn what_is_no_word_of_ours_is_the_transports_fault() {
        for code in
            [Code::Unknown, Code::Internal, Code::Cancelled, Code::Unavailable, Code::ResourceExhausted]
        {
            assert!(matches!(refusal(&Status::new(code, "x")), Refusal::Fault(_)), "{code:?}");
        }
        assert!(matches!(refusal(&Status::new(Code::Unimplemented, "x")), Refusal::Final(_)));
    }
}
