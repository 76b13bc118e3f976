//! An error as a gRPC status, with its reason, fields and slots as details.

use std::collections::HashMap;

use sequent_engine::{QuotaFault, Reason, SlotCause};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::error::{ApiError, cut};

/// Domain of the reasons in gRPC error details.
const DOMAIN: &str = "sequent";

/// Limit on the text of a gRPC status, and on its description of fields, in bytes. A status travels in headers, once
/// percent-encoded and once in base64, and clients close a *connection* whose headers exceed 8 KiB.
const STATUS_SHOWN_MAX: usize = 1024;

/// Limit on fields in a status.
const STATUS_FIELDS_MAX: usize = 8;

impl ApiError {
    /// gRPC status with the code of the table, and with the reason and the fields as details.
    pub(crate) fn into_status(self) -> Status {
        let code = code(self.reason);
        self.into_status_of(code)
    }

    /// gRPC status with another code, for errors of the protocol that the table does not have.
    pub(crate) fn into_status_of(self, code: Code) -> Status {
        let mut details = ErrorDetails::new();
        let (listed, more) = self.listed();
        let of_slot = |slot: &SlotCause| {
            let SlotCause { slot, kind, cause } = slot;
            [(format!("slot.{slot}"), kind.to_string()), (format!("cause.{slot}"), (*cause).to_owned())]
        };
        let mut metadata: HashMap<String, String> = listed.iter().flat_map(of_slot).collect();
        metadata.extend(more.map(|more| ("slots.more".to_owned(), more.to_string())));
        if let Some(QuotaFault { quota, of, limit, .. }) = self.quota.as_deref() {
            let pairs = [("quota", *quota), ("of", of), ("limit", limit)];
            metadata.extend(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())));
        }
        metadata.extend(self.details.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        details.set_error_info(self.reason.as_str(), DOMAIN, metadata);
        if let Some(after) = self.retry_after() {
            details.set_retry_info(Some(after));
        }
        // All fields share the limit on the text.
        let each = STATUS_SHOWN_MAX / self.fields.len().clamp(1, STATUS_FIELDS_MAX);
        for field in self.fields.into_iter().take(STATUS_FIELDS_MAX) {
            let description = format!("is {:?}: {}", field.value, field.bound);
            details.add_bad_request_violation(field.field, cut(&description, each));
        }
        Status::with_error_details(code, cut(&self.text, STATUS_SHOWN_MAX), details)
    }
}

/// The gRPC code of a reason.
pub(super) fn code(reason: Reason) -> Code {
    match reason.grpc() {
        "INVALID_ARGUMENT" => Code::InvalidArgument,
        "NOT_FOUND" => Code::NotFound,
        "UNAUTHENTICATED" => Code::Unauthenticated,
        "PERMISSION_DENIED" => Code::PermissionDenied,
        "RESOURCE_EXHAUSTED" => Code::ResourceExhausted,
        "UNAVAILABLE" => Code::Unavailable,
        "DEADLINE_EXCEEDED" => Code::DeadlineExceeded,
        "FAILED_PRECONDITION" => Code::FailedPrecondition,
        _ => Code::Unknown,
    }
}
