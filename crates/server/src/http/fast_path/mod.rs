//! Fast path of `POST /v1/sequences/{name}/next`: one number that is ready, without a task or a boxed future.
//!
//! The path is measured (`benches/RESULTS.md`). A request that it does not take goes to the router, invalid ones
//! included.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{Router, body::Body, response::IntoResponse};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper_util::service::TowerToHyperServiceFuture;
use sequent_engine::Ready;

use crate::{
    auth::ConnectionAuth,
    error::ApiError,
    http::{
        api::Api,
        number_json::{ENVELOPE_BYTES, push_head, push_number, push_tail},
        responses,
    },
    service::request_id,
};

/// Body of a response that is ready, or of one from the router. Only the second is boxed.
pub(crate) type ResponseBody = Either<Full<Bytes>, Body>;

/// A response that is ready, or the future of the router. Only the first is not boxed.
pub(crate) enum ResponseFuture {
    Ready(Option<Response<Full<Bytes>>>),
    Refused(Option<Box<Response<Body>>>),
    Routed(Pin<Box<TowerToHyperServiceFuture<Router, Request<Incoming>>>>),
}

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Ready(response) => {
                response.take().map_or(Poll::Pending, |it| Poll::Ready(Ok(it.map(Either::Left))))
            }
            Self::Refused(response) => {
                response.take().map_or(Poll::Pending, |it| Poll::Ready(Ok(it.map(Either::Right))))
            }
            Self::Routed(answer) => answer.as_mut().poll(cx).map_ok(|it| it.map(Either::Right)),
        }
    }
}

impl ResponseFuture {
    /// The response to a request that is refused unread. The connection closes: a body may follow.
    pub(super) fn refused(error: ApiError) -> Self {
        let mut response = error.into_response();
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        Self::Refused(Some(Box::new(response)))
    }
}

/// The response to a request for one number without parameters, if the number is ready.
pub(super) fn next(
    api: &Api,
    auth: &ConnectionAuth,
    request: &Request<Incoming>,
) -> Option<Response<Full<Bytes>>> {
    let uri = request.uri();
    let plain = matches!(uri.query(), None | Some("count=1"))
        && request.method() == Method::POST
        && http_body::Body::is_end_stream(request.body());
    let name = plain_name(uri.path()).filter(|_| plain)?;
    let take = || api.service.next_ready(name, &api.next_metrics);
    let ready = auth.ready(request.headers(), name, take)?;
    let mut response = single(name, ready);
    request_id::echo(request_id::from_headers(request.headers()), response.headers_mut());
    Some(response)
}

/// The name in a path of `next`, if it needs no decoding.
fn plain_name(path: &str) -> Option<&str> {
    let name = path.strip_prefix("/v1/sequences/")?.strip_suffix("/next")?;
    Some(name).filter(|name| !name.contains(['/', '%']))
}

/// `200 OK` with one number.
fn single(name: &str, ready: Ready) -> Response<Full<Bytes>> {
    let mut text = String::with_capacity(ENVELOPE_BYTES);
    push_head(&mut text, name);
    text.push('"');
    push_number(&mut text, ready.number);
    text.push_str("\"]");
    push_tail(&mut text, ready.version);
    responses::json(Bytes::from(text))
}

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn a_name_that_needs_decoding_is_left_to_the_router() {
        assert_eq!(plain_name("/v1/sequences/order/next"), Some("order"));
        for path in ["/v1/sequences/a%2fb/next", "/v1/sequences/a/b/next", "/v1/sequences/order", "/next"] {
            assert_eq!(plain_name(path), None, "{path}");
        }
    }
}
