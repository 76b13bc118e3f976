//! HTTP/JSON server: routes `next`, definitions, previews, parsing and `/openapi.json`.

mod definitions;
mod fast_path;
mod json_object;
mod params;
mod responses;
mod routes;

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use tracing::Instrument;

use crate::{
    error::ApiError,
    http::{fast_path::ResponseFuture, params::NextParams, routes::Route},
    limits::{BODY_MAX, body_reader::BodyReader, pending_quota::ConnectionShare},
    service::{NumberService, definitions::METHOD, request_id::RequestId},
    telemetry::request_metrics::RequestMetrics,
};

/// Description of the HTTP API. A test compares it with the table of reasons.
const OPENAPI: &str = include_str!("openapi.json");

/// Error text for an unknown path.
const SERVED: &str = "POST /v1/sequences/{name}/next, GET /v1/sequences, GET and PUT /v1/sequences/{name}, POST \
                      /v1/preview, POST /v1/parse and GET /openapi.json are served";

/// Methods of a resource that can be read.
const GET: &str = "GET, HEAD";

/// Whether a method reads. HEAD is handled as GET: hyper omits the body and keeps its length (RFC 9110, 9.3.2).
fn is_get(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// HTTP server: makes a service per connection.
pub(crate) struct HttpServer(Arc<Inner>);

/// HTTP service of one connection. Cheap to clone.
#[derive(Clone)]
pub(crate) struct HttpService(Arc<Inner>, Arc<ConnectionShare>);

struct Inner {
    service: NumberService,
    next_metrics: RequestMetrics,
    definitions_metrics: RequestMetrics,
}

impl HttpServer {
    pub(crate) fn new(service: NumberService) -> Self {
        let (next_metrics, definitions_metrics) =
            (RequestMetrics::new("http", "next"), RequestMetrics::without_numbers("http", METHOD));
        Self(Arc::new(Inner { service, next_metrics, definitions_metrics }))
    }

    /// The service of a new connection.
    pub(crate) fn connection_service(&self, share: Arc<ConnectionShare>) -> HttpService {
        HttpService(Arc::clone(&self.0), share)
    }
}

impl HttpService {
    async fn respond(self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let id = RequestId::from_headers_or_generate(request.headers());
        let span = id.span(request.headers());
        let mut response = self.route_request(request).instrument(span).await;
        let failed = !response.status().is_success();
        id.add_to(response.headers_mut(), failed);
        response
    }

    async fn route_request(self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        match routes::route(request.uri().path()) {
            Route::Next(name) => self.next(&name, request).await,
            Route::Description if is_get(request.method()) => openapi(),
            Route::Description => self.not_allowed(request.method(), GET),
            Route::Unknown => {
                let error = ApiError::field("path", request.uri().path(), SERVED);
                self.0.next_metrics.refused(error.with_status(StatusCode::NOT_FOUND)).into_response()
            }
            Route::Undecodable(segment) => {
                let error =
                    ApiError::field("name", &segment, "a name in UTF-8, percent-encoded, is expected");
                self.0.next_metrics.refused(error).into_response()
            }
            route => self.call_definitions(route, request).await,
        }
    }

    /// Handles definitions, previews and parsing.
    async fn call_definitions(&self, route: Route, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let service = &self.0.service;
        let allowed = match route {
            Route::Definition(_) => "GET, HEAD, PUT",
            Route::Definitions => GET,
            _ => "POST",
        };
        let (parts, incoming) = request.into_parts();
        if !allowed.split(", ").any(|method| method == parts.method.as_str()) {
            return self.not_allowed(&parts.method, allowed);
        }
        let began = service.now();
        let work = async {
            let query = parts.uri.query().unwrap_or_default();
            match route {
                Route::Definitions => return definitions::list(service, query).await,
                Route::Definition(name) if is_get(&parts.method) => {
                    return definitions::show(service, &name).await;
                }
                _ => {}
            }
            let body = body(incoming, Arc::clone(&self.1)).await?;
            match route {
                Route::Definition(name) => definitions::define(service, &name, &body).await,
                Route::Preview => definitions::preview(service, &body).await,
                _ => definitions::parse(service, &body).await,
            }
        };
        let outcome = work.await;
        self.0.definitions_metrics.answered(&outcome, service.now().saturating_duration_since(began));
        outcome.unwrap_or_else(ApiError::into_response)
    }

    async fn next(&self, name: &str, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.method() != Method::POST {
            // Any cache on the way could answer a GET or HEAD again, with the same number.
            return self.not_allowed(request.method(), "POST");
        }
        let query = request.uri().query().unwrap_or_default().to_owned();
        let body = body(request.into_body(), Arc::clone(&self.1)).await;
        let bound = || self.0.service.next_bound();
        let params = body.and_then(|body| NextParams::read(&query, &body, &bound));
        let params = match params {
            Ok(params) => params,
            Err(error) => return self.0.next_metrics.refused(error).into_response(),
        };
        match self.0.service.next(params.request(name), &self.0.next_metrics).await {
            Ok(given) => responses::issued(&given),
            Err(error) => error.into_response(),
        }
    }

    fn not_allowed(&self, method: &Method, allowed: &'static str) -> Response<Full<Bytes>> {
        let error = ApiError::field("method", method.as_str(), format!("{allowed} is allowed"));
        let error = error.with_status(StatusCode::METHOD_NOT_ALLOWED);
        let mut response = self.0.next_metrics.refused(error).into_response();
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
        response
    }
}

impl hyper::service::Service<Request<Incoming>> for HttpService {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn call(&self, request: Request<Incoming>) -> ResponseFuture {
        match fast_path::next(&self.0, &request) {
            Some(response) => ResponseFuture::Ready(Some(response)),
            None => ResponseFuture::Boxed(Box::pin(self.clone().respond(request))),
        }
    }
}

/// Reads the whole body, within the limits on size and time.
async fn body(body: Incoming, share: Arc<ConnectionShare>) -> Result<Bytes, ApiError> {
    let announced = http_body::Body::size_hint(&body).lower();
    if announced == 0 && http_body::Body::is_end_stream(&body) {
        return Ok(Bytes::new());
    }
    let body = BodyReader::new("body", (None, body), share);
    if announced > BODY_MAX as u64 {
        return Err(body.too_large(&format!("{announced} bytes"), BODY_MAX));
    }
    body.read_all(BODY_MAX).await
}

fn openapi() -> Response<Full<Bytes>> {
    responses::json(Bytes::from_static(OPENAPI.as_bytes()))
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
