//! Routes of the HTTP API.

use std::{
    future::{Ready, ready},
    sync::Arc,
};

use axum::{
    Router,
    extract::State,
    http::{Method, StatusCode, Uri},
    middleware::from_fn,
    routing::{get, post},
};
use bytes::Bytes;

use crate::{
    error::ApiError,
    http::{api::Api, definitions, next::next, responses},
    service::request_id::identify,
};

/// Description of the HTTP API. Tests compare it with the table of reasons and with what is served.
const OPENAPI: &str = include_str!("openapi.json");

/// Error text for an unknown path.
const SERVED: &str = "POST /v1/sequences/{name}/next, GET /v1/sequences, GET and PUT /v1/sequences/{name}, POST \
                      /v1/preview, POST /v1/parse, GET /livez, GET /readyz and GET /openapi.json are served";

/// Routes of everything but the fast path. A number is only given to a POST: any cache on the way could answer a GET
/// again, with the same number.
pub(super) fn router(api: Arc<Api>) -> Router {
    Router::new()
        .route("/v1/sequences/{name}/next", post(next).fallback(only("POST")))
        .route("/v1/sequences", get(definitions::list).fallback(only("GET, HEAD")))
        .route(
            "/v1/sequences/{name}",
            get(definitions::show).put(definitions::define).fallback(only("GET, HEAD, PUT")),
        )
        .route("/v1/preview", post(definitions::preview).fallback(only("POST")))
        .route("/v1/parse", post(definitions::parse).fallback(only("POST")))
        .route(
            "/openapi.json",
            get(async || responses::json(Bytes::from_static(OPENAPI.as_bytes()))).fallback(only("GET, HEAD")),
        )
        .fallback(unknown)
        .layer(from_fn(identify))
        .with_state(api)
}

/// Handler of all other methods of a route. axum adds the header `allow`.
fn only(allowed: &'static str) -> impl Fn(State<Arc<Api>>, Method) -> Ready<ApiError> + Clone + Send + Sync {
    move |State(api), method| {
        let error = ApiError::field("method", method.as_str(), format!("{allowed} is allowed"));
        ready(api.next_metrics.refused(error.with_status(StatusCode::METHOD_NOT_ALLOWED)))
    }
}

async fn unknown(State(api): State<Arc<Api>>, uri: Uri) -> ApiError {
    let error = ApiError::field("path", uri.path(), SERVED);
    api.next_metrics.refused(error.with_status(StatusCode::NOT_FOUND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_engine::Reason;

    #[test]
    fn the_description_is_json_and_names_every_status() {
        let openapi: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
        let answers = &openapi["paths"]["/v1/sequences/{name}/next"]["post"]["responses"];
        for reason in Reason::ALL {
            assert!(answers[reason.http().to_string()].is_object(), "{reason}");
        }
        // Each operation that reads the ledger may find it unavailable or restored.
        for (path, methods) in openapi["paths"].as_object().unwrap() {
            for operation in methods.as_object().unwrap().values().filter(|_| path != "/openapi.json") {
                for reason in [Reason::LedgerUnavailable, Reason::RecoveryRequired] {
                    assert!(
                        operation["responses"][reason.http().to_string()].is_object(),
                        "{path}: {reason}"
                    );
                }
            }
        }
        let reasons = openapi["components"]["schemas"]["Problem"]["properties"]["reason"]["enum"].clone();
        let known: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(reasons, serde_json::json!(known));
    }
}
