//! Liveness and readiness, at the admin listener and at HTTP's. They read memory alone.

use axum::{
    Router,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};

use crate::shutdown::phase::{Phase, PhaseWatch};

/// Routes of both.
pub(crate) fn router(phases: PhaseWatch) -> Router {
    Router::new()
        .route("/livez", get(async || not_stored("live\n")))
        .route("/readyz", get(readyz))
        .with_state(phases)
}

/// Whether balancers should send requests.
pub(super) fn is_ready(phases: &PhaseWatch) -> bool {
    phases.now() == Phase::Serving
}

async fn readyz(State(phases): State<PhaseWatch>) -> Response {
    if is_ready(&phases) {
        not_stored("ready\n")
    } else {
        not_stored((StatusCode::SERVICE_UNAVAILABLE, "draining\n"))
    }
}

fn not_stored(response: impl IntoResponse) -> Response {
    ([(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))], response).into_response()
}
