//! State of the gRPC layers.

use bytes::Bytes;

use crate::{
    error::ApiError,
    grpc::fast_path::next_codec::count_beyond_u32,
    service::{NumberService, definitions::METHOD},
    shutdown::phase::PhaseWatch,
    telemetry::request_metrics::RequestMetrics,
};

/// Label of this API in metrics.
pub(super) const API_LABEL: &str = "grpc";

/// The only method with a fast path.
pub(super) const NEXT: &str = "/sequent.v1.Sequences/Next";

const LEASE: &str = "/sequent.v1.Sequences/Lease";

/// State of the layers, shared by all connections.
pub(super) struct Api {
    pub(super) service: NumberService,
    pub(super) next_metrics: RequestMetrics,
    pub(super) definitions_metrics: RequestMetrics,
    pub(super) phases: PhaseWatch,
}

impl Api {
    pub(super) fn new(service: NumberService, phases: PhaseWatch) -> Self {
        Self {
            service,
            next_metrics: RequestMetrics::new(API_LABEL, "next"),
            definitions_metrics: RequestMetrics::without_numbers(API_LABEL, METHOD),
            phases,
        }
    }

    /// Metrics of the calls that a path's service could not read.
    pub(super) fn metrics(&self, path: &str) -> &RequestMetrics {
        if matches!(path, NEXT | LEASE) { &self.next_metrics } else { &self.definitions_metrics }
    }

    /// The body of a call, unless the Protobuf library would misread its count.
    pub(super) fn check_count(&self, path: &str, body: Bytes) -> Result<Bytes, ApiError> {
        let bound = match path {
            NEXT => NumberService::next_bound,
            LEASE => NumberService::lease_bound,
            _ => return Ok(body),
        };
        match count_beyond_u32(&body) {
            Some(count) => Err(ApiError::field("count", &count.to_string(), bound(&self.service))),
            None => Ok(body),
        }
    }
}
