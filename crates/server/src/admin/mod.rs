//! Admin listener: health, metrics, status and the console, all read-only; and what operators change, by name.

mod connection;
mod console;
pub(crate) mod health;
mod operate;
mod state;
mod status;

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, Uri, header},
    middleware::{Next, from_fn_with_state, map_response},
    response::{IntoResponse, Response},
    routing::get,
};

pub(crate) use crate::admin::{connection::route, state::Admin};
use crate::{
    audit::Entry,
    auth::{Auth, Caller},
    error::ApiError,
    http::own_site::OwnSite,
    telemetry::request_metrics,
};

/// Content type of the Prometheus text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Routes of the admin listener.
pub(crate) fn router(admin: Admin, site: OwnSite) -> Router {
    let health = health::router(admin.phases.clone());
    let routes = Router::new()
        .route("/", get(console::page))
        .route("/console", get(console::page))
        .route("/metrics", get(metrics))
        .route("/v1/status", get(status::show))
        .merge(operate::router())
        .with_state(admin.clone())
        .merge(health)
        .method_not_allowed_fallback(read_only)
        .fallback(get(unknown).fallback(read_only));
    routes.layer(from_fn_with_state((site, admin.auth), own_site)).layer(map_response(not_stored))
}

/// Layer: refuses what a page of another site asks.
async fn own_site(State((site, auth)): State<(OwnSite, Auth)>, request: Request, next: Next) -> Response {
    match site.refusal(&request) {
        Some(error) => {
            // A browser's certificate may have said whose it is.
            let caller = request.extensions().get::<Caller>();
            let by = |entry: Entry| entry.by("admin", caller.map(Caller::peer)).with("why", "page");
            auth.audit().refused(&error, caller.and_then(Caller::principal), by);
            ([(header::CONNECTION, "close")], error).into_response()
        }
        None => next.run(request).await,
    }
}

async fn metrics(State(admin): State<Admin>) -> impl IntoResponse {
    let engine = admin.service.engine();
    engine.measure().await;
    admin.auth.measure();
    request_metrics::set_slots(engine);
    admin.drain.record_metrics(admin.service.now());
    request_metrics::set_ready(admin.is_ready(), admin.service.in_flight().count());
    ([(header::CONTENT_TYPE, METRICS_TYPE)], admin.recorder.render())
}

async fn unknown(uri: Uri) -> ApiError {
    let bound = "/, /metrics, /livez, /readyz and /v1/status are served, and what operators change: \
                 POST /v1/slots/{slot}/evict, drain and rescue, POST /v1/sequences/{name}/advance and forget, \
                 PUT /v1/sequences/{name}";
    ApiError::field("path", uri.path(), bound).with_status(StatusCode::NOT_FOUND)
}

async fn read_only(method: Method) -> ApiError {
    let bound = "GET is allowed, and POST and PUT of what operators change";
    ApiError::field("method", method.as_str(), bound).with_status(StatusCode::METHOD_NOT_ALLOWED)
}

/// No cache may store a response of this listener.
async fn not_stored(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
