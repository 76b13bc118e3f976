//! State of the HTTP handlers.

use crate::{
    auth::Caller,
    error::ApiError,
    service::{NumberService, definitions::METHOD},
    telemetry::request_metrics::RequestMetrics,
};

/// State of the handlers, shared by all connections.
pub(super) struct Api {
    pub(super) service: NumberService,
    pub(super) next_metrics: RequestMetrics,
    definitions_metrics: RequestMetrics,
}

impl Api {
    pub(super) fn new(service: NumberService) -> Self {
        let (next_metrics, definitions_metrics) =
            (RequestMetrics::new("http", "next"), RequestMetrics::without_numbers("http", METHOD));
        Self { service, next_metrics, definitions_metrics }
    }

    /// Runs a call that yields no numbers, and counts its outcome.
    pub(super) async fn counted<T>(
        &self,
        caller: &Caller,
        call: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let outcome = self.service.counted(&self.definitions_metrics, call).await;
        caller.count(outcome.as_ref().err().map(ApiError::reason), 0);
        outcome
    }
}
