//! Fast path of `POST /v1/sequences/{name}/next`: one number that is ready, without a task or a boxed future.
//!
//! The path is measured (`benches/RESULTS.md`). A request that it does not take goes to the handler, invalid ones
//! included.

pub(crate) mod number_json;

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use sequent_engine::Ready;

use crate::{
    http::{
        Inner,
        fast_path::number_json::{ENVELOPE_BYTES, push_head, push_number, push_tail},
        responses, routes,
    },
    service::request_id,
};

/// A response that is ready, or the future of a handler. Only the second is boxed.
pub(crate) enum ResponseFuture {
    Ready(Option<Response<Full<Bytes>>>),
    Boxed(Pin<Box<dyn Future<Output = Response<Full<Bytes>>> + Send>>),
}

impl Future for ResponseFuture {
    type Output = Result<Response<Full<Bytes>>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Ready(response) => response.take().map_or(Poll::Pending, |it| Poll::Ready(Ok(it))),
            Self::Boxed(answer) => answer.as_mut().poll(cx).map(Ok),
        }
    }
}

/// The response to a request for one number without parameters, if the number is ready.
pub(super) fn next(server: &Inner, request: &Request<Incoming>) -> Option<Response<Full<Bytes>>> {
    let uri = request.uri();
    let plain = matches!(uri.query(), None | Some("count=1"))
        && request.method() == Method::POST
        && http_body::Body::is_end_stream(request.body());
    let name = routes::plain_name(uri.path()).filter(|_| plain)?;
    let ready = server.service.next_ready(name, &server.next_metrics)?;
    let mut response = single(name, ready);
    request_id::echo(request_id::from_headers(request.headers()), response.headers_mut());
    Some(response)
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
