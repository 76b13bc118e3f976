//! State of the HTTP handlers.

use crate::{
    service::{NumberService, definitions::METHOD},
    telemetry::request_metrics::RequestMetrics,
};

/// State of the handlers, shared by all connections.
pub(super) struct Api {
    pub(super) service: NumberService,
    pub(super) next_metrics: RequestMetrics,
    pub(super) definitions_metrics: RequestMetrics,
}

impl Api {
    pub(super) fn new(service: NumberService) -> Self {
        let (next_metrics, definitions_metrics) =
            (RequestMetrics::new("http", "next"), RequestMetrics::without_numbers("http", METHOD));
        Self { service, next_metrics, definitions_metrics }
    }
}
