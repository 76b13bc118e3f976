//! Admin listener: health, metrics, status and the console. It is read-only.

mod console;
mod state;
mod status;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::State,
    http::{HeaderValue, Method, StatusCode, Uri, header},
    middleware::map_response,
    response::{IntoResponse, Response},
    routing::get,
};
use hyper_util::service::TowerToHyperService;

pub(crate) use crate::admin::state::Admin;
use crate::{error::ApiError, telemetry::request_metrics, tls::peer::PeerCertificate};

/// Content type of the Prometheus text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Routes of the admin listener.
pub(crate) fn router(admin: Admin) -> Router {
    Router::new()
        .route("/", get(console::page))
        .route("/console", get(console::page))
        .route("/livez", get(async || "live\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/v1/status", get(status::show))
        .method_not_allowed_fallback(read_only)
        .fallback(get(unknown).fallback(read_only))
        .layer(map_response(not_stored))
        .with_state(admin)
}

/// The service of a new connection, whose peer may have presented a certificate.
pub(crate) fn connection_service(
    routes: &Router,
    peer: Option<Arc<PeerCertificate>>,
) -> TowerToHyperService<Router> {
    let routes = routes.clone();
    TowerToHyperService::new(match peer {
        Some(peer) => routes.layer(Extension(peer)),
        None => routes,
    })
}

async fn readyz(State(admin): State<Admin>) -> (StatusCode, &'static str) {
    if admin.is_ready() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "draining\n")
    }
}

async fn metrics(State(admin): State<Admin>) -> impl IntoResponse {
    let engine = admin.service.engine();
    engine.measure().await;
    request_metrics::set_slots(engine);
    admin.drain.record_metrics(admin.service.now());
    request_metrics::set_ready(admin.is_ready(), admin.service.in_flight().count());
    ([(header::CONTENT_TYPE, METRICS_TYPE)], admin.recorder.render())
}

async fn unknown(uri: Uri) -> ApiError {
    let bound = "/, /metrics, /livez, /readyz and /v1/status are served";
    ApiError::field("path", uri.path(), bound).with_status(StatusCode::NOT_FOUND)
}

async fn read_only(method: Method) -> ApiError {
    let bound = "GET is allowed: nothing is changed here";
    ApiError::field("method", method.as_str(), bound).with_status(StatusCode::METHOD_NOT_ALLOWED)
}

/// No cache may store a response of this listener.
async fn not_stored(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
