//! State that all connections of the listener share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{
    auth::Caller,
    error::ApiError,
    service::{NumberService, definitions::METHOD},
    shutdown::phase::PhaseWatch,
    telemetry::request_metrics::RequestMetrics,
};

/// Label of this API in metrics.
const API_LABEL: &str = "redis";

/// State of the listener.
pub(crate) struct Context {
    pub(crate) service: NumberService,
    pub(crate) next_metrics: RequestMetrics,
    pub(crate) lease_metrics: RequestMetrics,
    pub(crate) phases: PhaseWatch,
    definitions_metrics: RequestMetrics,
    began: Instant,
    ids: AtomicU64,
    open: Arc<AtomicUsize>,
}

/// Guard of an open connection.
pub(crate) struct OpenConnection(Arc<AtomicUsize>);

impl Context {
    pub(crate) fn new(service: NumberService, phases: PhaseWatch) -> Self {
        Self {
            began: service.now(),
            service,
            next_metrics: RequestMetrics::new(API_LABEL, "next"),
            lease_metrics: RequestMetrics::new(API_LABEL, "lease"),
            definitions_metrics: RequestMetrics::without_numbers(API_LABEL, METHOD),
            phases,
            ids: AtomicU64::new(0),
            open: Arc::default(),
        }
    }

    /// Counts a connection until the guard is dropped.
    pub(crate) fn open_connection(&self) -> OpenConnection {
        self.open.fetch_add(1, Ordering::Relaxed);
        OpenConnection(Arc::clone(&self.open))
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// The number of a new connection.
    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// For how long the listener has served.
    pub(crate) fn uptime(&self) -> Duration {
        self.service.now().saturating_duration_since(self.began)
    }

    /// Runs a call that yields no numbers, and counts its outcome.
    pub(crate) async fn counted<T>(
        &self,
        caller: &Caller,
        call: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let outcome = self.service.counted(&self.definitions_metrics, call).await;
        caller.count(outcome.as_ref().err().map(ApiError::reason), 0);
        outcome
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
