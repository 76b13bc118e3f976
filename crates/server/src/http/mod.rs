//! The HTTP/JSON door: one route that gives numbers, and the description of it.

pub(crate) mod definitions;
pub(crate) mod json_object;
pub(crate) mod params;
pub(crate) mod responses;
pub(crate) mod routes;

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use tracing::Instrument;

use crate::{
    http::{params::Wanted, routes::Route},
    limits::{BODY_MAX, body_reader::Arriving, pending_quota::Share},
    service::{
        Teller,
        api_error::Fault,
        definitions::METHOD,
        request_id::{self, RequestId},
    },
    telemetry::request_metrics::Meter,
};

/// The description of this door, checked by a test against what the door knows.
const OPENAPI: &str = include_str!("openapi.json");

/// What a path is told that is none.
const SERVED: &str = "POST /v1/sequences/{name}/next, GET /v1/sequences, GET and PUT /v1/sequences/{name}, POST \
                      /v1/preview, POST /v1/parse and GET /openapi.json are served";

/// What is allowed where there is something to read.
const GET: &str = "GET, HEAD";

/// Whether something is read. HEAD is answered as GET is; hyper leaves the body out and keeps its length (RFC 9110, 9.3.2).
fn is_get(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// The HTTP/JSON door.
pub(crate) struct HttpDoor(Arc<Inner>);

/// The door as one connection has it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct HttpLine(Arc<Inner>, Arc<Share>);

struct Inner {
    teller: Teller,
    next: Meter,
    defined: Meter,
}

/// An answer: at once, without a box, where it is ready.
pub(crate) enum Answer {
    Ready(Option<Response<Full<Bytes>>>),
    Whole(Pin<Box<dyn Future<Output = Response<Full<Bytes>>> + Send>>),
}

impl Future for Answer {
    type Output = Result<Response<Full<Bytes>>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Ready(response) => response.take().map_or(Poll::Pending, |it| Poll::Ready(Ok(it))),
            Self::Whole(answer) => answer.as_mut().poll(cx).map(Ok),
        }
    }
}

impl HttpDoor {
    pub(crate) fn new(teller: Teller) -> Self {
        let (next, defined) = (Meter::new("http", "next"), Meter::numberless("http", METHOD));
        Self(Arc::new(Inner { teller, next, defined }))
    }

    /// The door for one connection.
    pub(crate) fn line(&self, share: Arc<Share>) -> HttpLine {
        HttpLine(Arc::clone(&self.0), share)
    }
}

impl HttpLine {
    /// The answer to a plain ask for one number that is ready. Everything else, faults among it, goes the ordinary way.
    fn ready(&self, request: &Request<Incoming>) -> Option<Response<Full<Bytes>>> {
        let uri = request.uri();
        let plain = matches!(uri.query(), None | Some("count=1"))
            && request.method() == Method::POST
            && http_body::Body::is_end_stream(request.body());
        let name = routes::plain_name(uri.path()).filter(|_| plain)?;
        let ready = self.0.teller.next_ready(name, &self.0.next)?;
        let mut response = responses::one(name, ready);
        request_id::echo(request_id::given(request.headers()), response.headers_mut());
        Some(response)
    }

    async fn answer(self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let id = RequestId::of(request.headers());
        let span = id.span(request.headers());
        let mut response = self.answered(request).instrument(span).await;
        let failed = !response.status().is_success();
        id.sign(response.headers_mut(), failed);
        response
    }

    async fn answered(self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        match routes::route(request.uri().path()) {
            Route::Next(name) => self.next(&name, request).await,
            Route::Description if is_get(request.method()) => described(),
            Route::Description => self.not_allowed(request.method(), GET),
            Route::Unknown => {
                let fault = Fault::field("path", request.uri().path(), SERVED);
                self.0.next.refused(fault.with_status(StatusCode::NOT_FOUND)).into_response()
            }
            Route::Undecodable(segment) => {
                let fault = Fault::field("name", &segment, "a name in UTF-8, percent-encoded, is expected");
                self.0.next.refused(fault).into_response()
            }
            route => self.defined(route, request).await,
        }
    }

    /// Definitions, and what is tried out.
    async fn defined(&self, route: Route, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let teller = &self.0.teller;
        let allowed = match route {
            Route::Definition(_) => "GET, HEAD, PUT",
            Route::Definitions => GET,
            _ => "POST",
        };
        let (parts, incoming) = request.into_parts();
        if !allowed.split(", ").any(|method| method == parts.method.as_str()) {
            return self.not_allowed(&parts.method, allowed);
        }
        let began = teller.now();
        let work = async {
            let query = parts.uri.query().unwrap_or_default();
            match route {
                Route::Definitions => return definitions::list(teller, query).await,
                Route::Definition(name) if is_get(&parts.method) => {
                    return definitions::show(teller, &name).await;
                }
                _ => {}
            }
            let body = body(incoming, Arc::clone(&self.1)).await?;
            match route {
                Route::Definition(name) => definitions::define(teller, &name, &body).await,
                Route::Preview => definitions::preview(teller, &body).await,
                _ => definitions::parse(teller, &body).await,
            }
        };
        let outcome = work.await;
        self.0.defined.answered(&outcome, teller.now().saturating_duration_since(began));
        outcome.unwrap_or_else(Fault::into_response)
    }

    async fn next(&self, name: &str, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.method() != Method::POST {
            // A GET, or a HEAD, could be answered again by any cache on the way, with the same number.
            return self.not_allowed(request.method(), "POST");
        }
        let query = request.uri().query().unwrap_or_default().to_owned();
        let body = body(request.into_body(), Arc::clone(&self.1)).await;
        let bound = || self.0.teller.next_bound();
        let wanted = body.and_then(|body| Wanted::read(&query, &body, &bound));
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(fault) => return self.0.next.refused(fault).into_response(),
        };
        match self.0.teller.next(wanted.ask(name), &self.0.next).await {
            Ok(given) => responses::given(&given),
            Err(fault) => fault.into_response(),
        }
    }

    fn not_allowed(&self, method: &Method, allowed: &'static str) -> Response<Full<Bytes>> {
        let fault = Fault::field("method", method.as_str(), format!("{allowed} is allowed"));
        let fault = fault.with_status(StatusCode::METHOD_NOT_ALLOWED);
        let mut response = self.0.next.refused(fault).into_response();
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
        response
    }
}

impl hyper::service::Service<Request<Incoming>> for HttpLine {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<Incoming>) -> Answer {
        match self.ready(&request) {
            Some(response) => Answer::Ready(Some(response)),
            None => Answer::Whole(Box::pin(self.clone().answer(request))),
        }
    }
}

/// The whole body, within its bounds of size and time.
async fn body(body: Incoming, share: Arc<Share>) -> Result<Bytes, Fault> {
    let announced = http_body::Body::size_hint(&body).lower();
    if announced == 0 && http_body::Body::is_end_stream(&body) {
        return Ok(Bytes::new());
    }
    let body = Arriving::new("body", (None, body), share);
    if announced > BODY_MAX as u64 {
        return Err(body.too_large(&format!("{announced} bytes"), BODY_MAX));
    }
    body.whole(BODY_MAX).await
}

fn described() -> Response<Full<Bytes>> {
    responses::json(Bytes::from_static(OPENAPI.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_engine::Reason;

    #[test]
    fn the_description_is_json_and_names_every_status() {
        let described: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
        let answers = &described["paths"]["/v1/sequences/{name}/next"]["post"]["responses"];
        for reason in Reason::ALL {
            assert!(answers[reason.http().to_string()].is_object(), "{reason}");
        }
        // What asks the ledger may find it away, or gone back.
        for (path, methods) in described["paths"].as_object().unwrap() {
            for operation in methods.as_object().unwrap().values().filter(|_| path != "/openapi.json") {
                for reason in [Reason::LedgerUnavailable, Reason::RecoveryRequired] {
                    assert!(
                        operation["responses"][reason.http().to_string()].is_object(),
                        "{path}: {reason}"
                    );
                }
            }
        }
        let reasons = described["components"]["schemas"]["Problem"]["properties"]["reason"]["enum"].clone();
        let known: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(reasons, serde_json::json!(known));
    }
}
