//! Tests of the errors, as a gRPC status and as a problem document.

use axum::{http::header, response::IntoResponse as _};
use http_body_util::BodyExt as _;
use sequent_core::{ErrorKind, SlotFailure, SourceError, Why};
use sequent_engine::{EngineError, Reason};
use tonic::Code;
use tonic_types::StatusExt as _;

use super::{ApiError, shown, status::code};

#[test]
fn every_reason_has_a_code_and_a_status() {
    for reason in Reason::ALL {
        assert_ne!(code(reason), Code::Unknown, "{reason}");
        let response = ApiError::new(reason, "x").into_response();
        assert_eq!(response.status().as_u16(), reason.http(), "{reason}");
        let retry = response.headers().contains_key(header::RETRY_AFTER);
        let status = ApiError::new(reason, "x").into_status();
        assert_eq!(status.get_details_error_info().unwrap().reason, reason.as_str());
        assert_eq!(
            (retry, status.get_details_retry_info().is_some()),
            (reason.retry().is_retryable(), reason.retry().is_retryable()),
        );
    }
}

#[test]
fn long_values_are_cut_between_characters() {
    let text = "ä".repeat(400);
    assert_eq!(shown(&text), format!("{}… (800 bytes)", "ä".repeat(64)));
}

/// Failure of `count` slots; neighbours have different causes.
fn no_slot(count: u16) -> ApiError {
    let failure = |slot: u16| {
        let (kind, why) = match slot % 2 {
            0 => (ErrorKind::Unavailable, Some(Why::ConnectionRefused)),
            _ => (ErrorKind::Unavailable, Some(Why::EvictedByHand)),
        };
        SlotFailure { slot, kind, why, detail: "10.0.0.7".to_owned() }
    };
    let error = SourceError::no_shard((0..count).map(failure).collect());
    EngineError::of_source(&"order".parse().unwrap(), error).into()
}

#[tokio::test]
async fn each_slot_is_named_with_its_cause() {
    let info = no_slot(2).into_status().get_details_error_info().unwrap();
    let metadata = |key: &str| info.metadata.get(key).map(String::as_str);
    assert_eq!(
        (metadata("slot.1"), metadata("cause.1")),
        (Some("unavailable"), Some("evicted by an operator"))
    );
    assert_eq!((metadata("cause.0"), metadata("slots.more")), (Some("connection refused"), None));
    let problem = problem(no_slot(2)).await;
    let slots = serde_json::json!([
        { "slot": "0", "kind": "unavailable", "cause": "connection refused" },
        { "slot": "1", "kind": "unavailable", "cause": "evicted by an operator" },
    ]);
    assert_eq!(problem["slots"], slots);
    let detail = "no slot can serve order: slot 0 connection refused, slot 1 evicted by an operator";
    assert_eq!(problem["detail"], detail);
    assert!(problem.get("slots_more").is_none(), "{problem}");
}

#[tokio::test]
async fn an_error_about_very_many_slots_stays_small() {
    let status = no_slot(1024).into_status();
    let info = status.get_details_error_info().unwrap();
    assert_eq!(info.metadata.get("slots.more").map(String::as_str), Some("992"));
    let bytes = status.details().len() + status.message().len();
    assert!(bytes < 5000, "{bytes} bytes: base64 makes a third more of it, and 8 KiB must hold it");
    let problem = problem(no_slot(1024)).await;
    assert_eq!((problem["slots"].as_array().unwrap().len(), &problem["slots_more"]), (32, &992.into()));
}

#[test]
fn a_status_fits_into_the_headers_of_every_client() {
    let long = "号".repeat(40_000);
    let mut error = ApiError::field("template", "x", long.clone());
    error.fields = vec![error.fields[0].clone(); 40];
    error.text = long;
    let headers = error.into_status().into_http::<()>().headers().clone();
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum();
    assert!(bytes < 8 * 1024, "{bytes} bytes of headers");
    let info = ApiError::new(Reason::DefinitionConflict, "x".repeat(100_000)).into_status();
    assert_eq!(info.get_details_error_info().unwrap().reason, "DEFINITION_CONFLICT");
    assert!(info.message().ends_with("x… (100000 bytes)"), "{}", info.message());
}

async fn problem(error: ApiError) -> serde_json::Value {
    let body = error.into_response().into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}
