//! The HTTP/JSON door: one route that gives numbers, and the description of it.

mod answer;
mod ask;
mod path;

use std::{convert::Infallible, future::Future, pin::Pin};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use sequent_engine::Reason;

use crate::{
    bounds::{BODY_MAX, BODY_TIMEOUT},
    fault::Fault,
    meter::Meter,
    teller::Teller,
};
use ask::Wanted;
use path::Route;

/// The description of this door, checked by a test against what the door knows.
const OPENAPI: &str = include_str!("openapi.json");

/// The HTTP/JSON door. Cheap to clone.
#[derive(Clone)]
pub(crate) struct HttpDoor {
    teller: Teller,
    next: Meter,
}

impl HttpDoor {
    pub(crate) fn new(teller: Teller) -> Self {
        Self { teller, next: Meter::new("http", "next") }
    }

    async fn answer(self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        match path::route(request.uri().path()) {
            Route::Next(name) => self.next(&name, request).await,
            Route::Description if request.method() == Method::GET => described(),
            Route::Description => self.not_allowed(request.method(), "GET"),
            Route::Unknown => {
                let bound = "POST /v1/sequences/{name}/next and GET /openapi.json are served";
                let fault = Fault::field("path", request.uri().path(), bound);
                self.next.refused(fault.with_status(StatusCode::NOT_FOUND)).into_response()
            }
            Route::Undecodable(segment) => {
                let fault = Fault::field("name", &segment, "a name in UTF-8, percent-encoded, is expected");
                self.next.refused(fault).into_response()
            }
        }
    }

    async fn next(&self, name: &str, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.method() != Method::POST {
            // A GET could be answered again by any cache on the way, with the same number.
            return self.not_allowed(request.method(), "POST");
        }
        let query = request.uri().query().unwrap_or_default().to_owned();
        let wanted = match body(request.into_body()).await {
            Ok(body) => Wanted::read(&query, &body),
            Err(fault) => Err(fault),
        };
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(fault) => return self.next.refused(fault).into_response(),
        };
        match self.teller.next(wanted.ask(name), &self.next).await {
            Ok(given) => answer::given(&given),
            Err(fault) => fault.into_response(),
        }
    }

    fn not_allowed(&self, method: &Method, allowed: &'static str) -> Response<Full<Bytes>> {
        let fault = Fault::field("method", method.as_str(), format!("{allowed} is allowed"));
        let fault = fault.with_status(StatusCode::METHOD_NOT_ALLOWED);
        let mut response = self.next.refused(fault).into_response();
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
        response
    }
}

impl hyper::service::Service<Request<Incoming>> for HttpDoor {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let door = self.clone();
        Box::pin(async move { Ok(door.answer(request).await) })
    }
}

/// The whole body, within its bounds of size and time.
async fn body(body: Incoming) -> Result<Bytes, Fault> {
    let too_large = |found: String| {
        let fault = Fault::field("body", &found, format!("at most {BODY_MAX} bytes are allowed"));
        fault.with_status(StatusCode::PAYLOAD_TOO_LARGE)
    };
    let announced = http_body::Body::size_hint(&body).lower();
    if announced == 0 && http_body::Body::is_end_stream(&body) {
        return Ok(Bytes::new());
    }
    if announced > BODY_MAX as u64 {
        return Err(too_large(format!("{announced} bytes")));
    }
    match tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, BODY_MAX).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(format!("over {BODY_MAX} bytes"))),
        Ok(Err(error)) => Err(Fault::field("body", &error.to_string(), "a whole body is expected")),
        Err(_) => {
            let text = format!("the body did not arrive within {BODY_TIMEOUT:?}");
            Err(Fault::new(Reason::DeadlineExceeded, text).with_status(StatusCode::REQUEST_TIMEOUT))
        }
    }
}

fn described() -> Response<Full<Bytes>> {
    answer::json(Bytes::from_static(OPENAPI.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_is_json_and_names_every_status() {
        let described: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
        let answers = &described["paths"]["/v1/sequences/{name}/next"]["post"]["responses"];
        for reason in Reason::ALL {
            assert!(answers[reason.http().to_string()].is_object(), "{reason}");
        }
        let reasons = described["components"]["schemas"]["Problem"]["properties"]["reason"]["enum"].clone();
        let known: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(reasons, serde_json::json!(known));
    }
}
